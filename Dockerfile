# `docker build .` makes an image with the embedded stores; `docker build --target server .` one for nodes that use a ClickHouse server, without
# the package chdb (540 MB). docs/deployment.md says how to pin the base image by its digest.
ARG NODE_IMAGE=node:24-slim

FROM ${NODE_IMAGE} AS built
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY server/package.json server/
COPY web/package.json web/
# No package that takes part in the build needs a script of its own.
RUN npm ci --ignore-scripts
COPY tsconfig.json ./
COPY server server
COPY web web
RUN /usr/local/bin/node server/scripts/build.mjs && /usr/local/bin/node web/scripts/build.mjs


FROM ${NODE_IMAGE} AS packages
WORKDIR /app
ENV NODE_ENV=production
COPY package.json package-lock.json .npmrc ./
COPY server/package.json server/
COPY web/package.json web/
COPY server/scripts/build.mjs server/scripts/
COPY web/scripts/build.mjs web/scripts/
RUN npm ci --omit=dev && npm cache clean --force


FROM packages AS packages-server
RUN rm -rf node_modules/chdb node_modules/@chdb


FROM ${NODE_IMAGE} AS program
WORKDIR /app
ENV NODE_ENV=production

COPY LICENSE package.json ./
COPY server/package.json server/run.mjs server/
COPY server/src server/src
COPY --from=built /app/server/dist server/dist
COPY --from=built /app/web/dist web/dist

# The journal lives here, and the embedded stores where no others are configured.
RUN mkdir /data && chown node:node /data
VOLUME /data
USER node

ENV SPANWAY_HOST=0.0.0.0 SPANWAY_DATA_DIR=/data
EXPOSE 8787

HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.SPANWAY_PORT || 8787}/livez`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]

CMD ["node", "--max-semi-space-size=32", "server/run.mjs", "main"]


FROM program AS server
COPY --from=packages-server /app/node_modules node_modules


FROM program
COPY --from=packages /app/node_modules node_modules
