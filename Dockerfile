FROM node:24-slim
WORKDIR /app
ENV NODE_ENV=production

COPY package.json package-lock.json .npmrc ./
COPY server/package.json server/
RUN npm ci --omit=dev && npm cache clean --force

COPY LICENSE ./
COPY server/src server/src

# The journal lives here, and the embedded stores where no others are configured.
RUN mkdir /data && chown node:node /data
VOLUME /data
USER node

ENV SPANWAY_HOST=0.0.0.0 SPANWAY_DATA_DIR=/data
EXPOSE 8787

HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.SPANWAY_PORT || 8787}/livez`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]

CMD ["node", "--max-semi-space-size=32", "server/src/main.ts"]
