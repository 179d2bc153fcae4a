import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer as createTlsServer } from "node:tls";
import { buildConnector } from "undici";
import { onTestFinished } from "vitest";
import { sharedReads, type Connector } from "../address-guard.ts";
import type { ExchangeController, OutgoingRequest } from "./exchange-handler.ts";
import { OriginPool } from "./origin-pool.ts";

/**
 * Called for each request as soon as bytes of it arrive: the connection's number, the bytes, and a socket to respond
 * on.
 */
type Script = (received: { connection: number; request: number; text: string; socket: Socket }) => void;

/** A peer that sends exactly the bytes of the test. */
export async function peer(script: Script, server: Server = createServer()) {
  const sockets: Socket[] = [];
  let requests = 0;
  server.on("setSecureContext" in server ? "secureConnection" : "connection", (socket: Socket) => {
    const connection = sockets.push(socket);
    socket.on("error", () => undefined);
    socket.on("data", (bytes: Buffer) => {
      script({ connection, request: (requests += 1), text: bytes.toString("latin1"), socket });
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, sockets };
}

type PoolOptions = { maxConnections?: number; tls?: ReturnType<typeof selfSigned> | undefined };

/** Built as in the address guard. */
export const connector = (options: { ca?: Buffer } = {}): Connector =>
  buildConnector({ allowH2: false, onread: sharedReads(), ...options });

/** A key, and a self-signed certificate for `localhost`. */
export function selfSigned(): { key: Buffer; cert: Buffer } {
  const folder = mkdtempSync(join(tmpdir(), "spanway-tls-"));
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", "1"];
  const ec = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out", cert];
  try {
    execFileSync("openssl", ["req", "-x509", ...ec, ...subject], { stdio: "ignore" });
    return { key: readFileSync(key), cert: readFileSync(cert) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export async function poolTo(script: Script, { maxConnections, tls }: PoolOptions = {}) {
  const { port, sockets } = await peer(script, tls && createTlsServer(tls));
  const origin = tls === undefined ? `http://127.0.0.1:${port}` : `https://localhost:${port}`;
  const pool = new OriginPool(origin, connector(tls && { ca: tls.cert }), maxConnections);
  onTestFinished(() => pool.close());
  return { pool, sockets, port };
}

export const post: OutgoingRequest = { method: "POST", path: "/v1?a=b", headers: { "x-a": "\xe9" }, body: "{}" };

/** One exchange: all events that its handler received, in order. */
export function send(
  pool: OriginPool,
  request: OutgoingRequest = post,
  onData?: (controller: ExchangeController, text: string) => void,
) {
  const events: string[] = [];
  const over = Promise.withResolvers<string>();
  const started = Promise.withResolvers<void>();
  let text = "";
  let controller!: ExchangeController;
  pool.dispatch(request, {
    onRequestStart: (given) => void (controller = given),
    onResponseStart: (_controller, status) => void events.push(String(status)),
    onResponseData: (given, bytes) => {
      const piece = bytes.toString("latin1");
      text += piece;
      started.resolve();
      onData?.(given, piece);
    },
    onResponseEnd: () => {
      events.push("end");
      over.resolve(text);
    },
    onResponseError: (_controller, error) => {
      events.push("error");
      over.resolve((error as NodeJS.ErrnoException).code ?? error.message);
    },
  });
  return { events, over: over.promise, started: started.promise, controller, read: () => text };
}

export const answer = (body: string, headers = ""): string =>
  `HTTP/1.1 200 OK\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

export const settle = (ms = 20): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));
