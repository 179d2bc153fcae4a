import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** A request as it was received. */
export type SeenRequest = {
  method: string;
  path: string;
  /** Lower-case names. */
  headers: Record<string, string>;
  body: string;
  /** The body as received. */
  bytes: Buffer;
  /** Milliseconds since the epoch at which the other side closed the connection; undefined while it is open. */
  closedAtMs: () => number | undefined;
};

type End = string | undefined;

/** Handles one request: writes bytes, waits, resets. The connection is closed if it returns `"close"`. */
export type Script = (connection: ScriptedConnection, request: SeenRequest) => Promise<End> | End;

export type ScriptedConnection = {
  /** Raw bytes, in a separate write. */
  write(bytes: string | Buffer): Promise<void>;
  /** Resolves when the other side has closed, or after `ms`. */
  closed(ms: number): Promise<boolean>;
  /** Ends in a TCP reset. */
  reset(): void;
  socket: Socket;
};

export type ScriptedUpstream = {
  url: string;
  requests: SeenRequest[];
  /** The script for requests from now on. */
  script(script: Script): void;
  stop(): Promise<void>;
};

/** A server on loopback whose every byte the test determines. */
export async function startScriptedUpstream(): Promise<ScriptedUpstream> {
  const requests: SeenRequest[] = [];
  const sockets = new Set<Socket>();
  let script: Script = () => "close";
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    let pieces: Buffer[] = [];
    let size = 0;
    let wanted = 0;
    let closedAtMs: number | undefined;
    socket.on("close", () => {
      sockets.delete(socket);
      closedAtMs = Date.now();
    });
    socket.on("error", () => undefined);
    socket.on("end", () => {
      closedAtMs = Date.now();
      socket.end();
    });
    socket.on("data", (bytes: Buffer) => {
      pieces.push(bytes);
      size += bytes.length;
      // A large body is joined once, when it is complete.
      if (size < wanted) return;
      const pending = Buffer.concat(pieces);
      const read = readRequest(pending);
      pieces = [read.rest];
      size = read.rest.length;
      wanted = read.wanted;
      if (read.request === undefined) return;
      const request: SeenRequest = { ...read.request, closedAtMs: () => closedAtMs };
      requests.push(request);
      void run(script, connectionOf(socket), request, socket);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    script: (next) => void (script = next),
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

async function run(
  script: Script,
  connection: ScriptedConnection,
  request: SeenRequest,
  socket: Socket,
): Promise<void> {
  const end = await script(connection, request);
  if (end === "close") socket.end();
}

function connectionOf(socket: Socket): ScriptedConnection {
  return {
    socket,
    async write(bytes) {
      if (socket.destroyed || !socket.writable) return;
      await new Promise<void>((resolve) => socket.write(bytes, () => resolve()));
    },
    async closed(ms) {
      if (socket.destroyed || socket.readableEnded) return true;
      const timeout = new AbortController();
      const disconnected = Promise.race([once(socket, "close"), once(socket, "end")]).then(() => true);
      const late = sleep(ms, false, { signal: timeout.signal }).catch(() => false);
      const answer = await Promise.race([disconnected, late]);
      timeout.abort();
      return answer;
    },
    reset: () => socket.resetAndDestroy(),
  };
}

type ReadRequest = {
  request: Omit<SeenRequest, "closedAtMs"> | undefined;
  rest: Buffer;
  /** The number of bytes needed before another parse makes sense. */
  wanted: number;
};

function readRequest(bytes: Buffer): ReadRequest {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd === -1) return { request: undefined, rest: bytes, wanted: 0 };
  const [first = "", ...lines] = bytes.toString("latin1", 0, headEnd).split("\r\n");
  const [method = "", path = ""] = first.split(" ");
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const bodyEnd = headEnd + 4 + Number(headers["content-length"] ?? 0);
  if (bytes.length < bodyEnd) return { request: undefined, rest: bytes, wanted: bodyEnd };
  const sent = bytes.subarray(headEnd + 4, bodyEnd);
  return {
    request: { method, path, headers, body: sent.toString("utf8"), bytes: sent },
    rest: bytes.subarray(bodyEnd),
    wanted: 0,
  };
}

/** The head of a response that ends with the connection. */
export function head(status: number, headers: Record<string, string> = {}): string {
  const lines = Object.entries({ connection: "close", ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Status\r\n${lines.join("")}\r\n`;
}

export const streamHead = head(200, { "content-type": "text/event-stream" });

/** Responds with one JSON body. */
export function answers(status: number, body: unknown, headers: Record<string, string> = {}): Script {
  return async (connection) => {
    const bytes = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
    const all = { "content-type": "application/json", "content-length": String(bytes.length), ...headers };
    await connection.write(Buffer.concat([Buffer.from(head(status, all)), bytes]));
    return "close";
  };
}

/** Responds with a stream, in these writes; `"close"` ends it. */
export function streams(...writes: ReadonlyArray<string | Buffer>): Script {
  return async (connection) => {
    await connection.write(streamHead);
    for (const bytes of writes) await connection.write(bytes);
    return "close";
  };
}
