import { request as httpRequest, type Agent } from "node:http";
import { connect } from "node:net";
import { Writable } from "node:stream";
import { pino } from "pino";
import { Registry } from "prom-client";
import type { KeyPrincipal, Principal } from "../domain/principal.ts";
import { permissions } from "../domain/permissions.ts";
import type { Authenticator } from "./authenticate.ts";
import { createHttpMetrics } from "./metrics.ts";
import { createRateLimiter, type RateLimits } from "./rate-limit.ts";
import { createHttpServer, type HttpServerOptions } from "./server.ts";

/** For tests of the kernel: a server with the given endpoints, whose log lines and metrics can be inspected. */
export async function startServer(
  options: Pick<HttpServerOptions, "endpoints"> & Partial<HttpServerOptions> & { perMinute?: Partial<RateLimits> },
) {
  const logLines: Record<string, unknown>[] = [];
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      logLines.push(JSON.parse(chunk.toString()));
      done();
    },
  });
  const registry = new Registry();
  const server = createHttpServer({
    authenticator: demoAuthenticator,
    rateLimiter: createRateLimiter({
      perMinute: { bulk_create: 0, bulk_delete: 0, public_trace: 0, api: 0, ...options.perMinute },
    }),
    logger: pino(sink),
    metrics: createHttpMetrics(registry),
    ...options,
  });
  const url = await server.listen({ host: "127.0.0.1", port: 0 });
  return { url, registry, logLines, close: () => server.close() };
}

export const keyPrincipal = keyOf("org-a", "a1");

const principals: Record<string, Principal> = {
  "key-a1": keyPrincipal,
  "key-a2": keyOf("org-a", "a2"),
  "key-b1": keyOf("org-b", "b1"),
  "key-read-only": { ...keyOf("org-a", "read"), permissions: new Set(["spans:read"]) },
  "jwt.user.one": userOf("one"),
  "jwt.user.two": userOf("two"),
};

/** Accepts only the tokens above. */
const demoAuthenticator: Authenticator = {
  authenticate: async ({ token }) => principals[token],
  authenticateBrowser: async () => undefined,
};

function keyOf(organization_id: string, id: string): KeyPrincipal {
  return {
    kind: "key",
    organization_id,
    environment: "prod",
    organization_key_id: id,
    organization_key_name: id,
    permissions: new Set(permissions),
  };
}

function userOf(user_id: string): Principal {
  return {
    kind: "user",
    organization_id: "org-a",
    user_id,
    email: `${user_id}@example.com`,
    role: "admin",
    is_instance_admin: false,
    permissions: new Set(permissions),
  };
}

export function bearer(token: string): { authorization: string } {
  return { authorization: `Bearer ${token}` };
}

/** Writes bytes to a new connection and reads until it closes, for bytes that no correct client would send. */
export function rawExchange(url: string, ...writes: (string | Buffer)[]): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      for (const bytes of writes) socket.write(bytes);
    });
    const chunks: Buffer[] = [];
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("close", () => resolve(Buffer.concat(chunks).toString()));
    socket.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE" && error.code !== "ECONNRESET") reject(error);
    });
  });
}

/** Waits until `condition` is true; throws after two seconds. */
export async function until(condition: () => boolean): Promise<void> {
  const deadlineMs = Date.now() + 2_000;
  while (!condition()) {
    if (Date.now() > deadlineMs) throw new Error("the condition was not met within two seconds");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

type RawAnswer = {
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
  localPort: number | undefined;
};

/** A GET that returns the body as sent, without decompression. */
export function rawGet(url: string, headers: Record<string, string>, agent?: Agent): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { headers, ...(agent && { agent }) }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      const localPort = response.socket.localPort;
      response.on("end", () => resolve({ headers: response.headers, body: Buffer.concat(chunks), localPort }));
    });
    request.on("error", reject).end();
  });
}
