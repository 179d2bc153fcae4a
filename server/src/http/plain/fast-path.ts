import type { IncomingHttpHeaders, Server } from "node:http";
import type { Socket } from "node:net";
import { fieldNameOf, findByte, findHeadEnd, isBlank, startsAlike } from "../../lib/header-fields.ts";
import { bySecond } from "../../lib/time.ts";
import { TurnQueue } from "../../lib/turn-queue.ts";
import type { BodyReservation } from "../body-memory.ts";
import type { ClientAddresses } from "../client-address.ts";
import { tooLarge } from "../content-coding.ts";
import { RequestContext } from "../context.ts";
import { forwarded, lineOf, type ForwardedHeader, type Incoming } from "../incoming.ts";
import type { Kernel } from "../kernel.ts";
import { httpLimits } from "../limits.ts";
import { busy, ClientDisconnected } from "../read-body.ts";
import { serve, type Route } from "../serve.ts";
import { PlainResponse, type PlainResponseOptions } from "./plain-response.ts";

/** The fast path: serves plain requests of known paths; see `createFastPath`. */
export type FastPath = {
  /** @param path without parameters; served with and without a trailing slash */
  add(path: string, route: Route): void;
  /** Closes connections without a response in progress; with `isLate`, all of them. */
  close(isLate: boolean): void;
};

const httpDate = bySecond((ms) => new Date(ms).toUTCString());
const noParameters = { params: {}, query: {} };

/**
 * An HTTP/1.1 reader in front of Node's, for small plain POST requests, such as the model calls and spans of SDKs: it
 * saves the cost of `node:http` and a router (ADR 0019). It serves a request only if it is complete and unambiguous
 * (`readPlainHead`); on any other request, the connection goes to Node permanently, with none of its bytes consumed. So
 * this code never decides about unusual requests, and its only timeouts are for idle and incomplete ones.
 */
export function createFastPath(server: Server, kernel: Kernel): FastPath {
  const routes = new Map<string, Route>();
  const connections = new Set<PlainConnection>();
  const toNode = server.listeners("connection") as Array<(this: Server, socket: Socket) => void>;
  const arrived = new TurnQueue<{ route: Route; incoming: Incoming; response: PlainResponse }>((requests) => {
    for (const { route, incoming, response } of requests)
      void serve(kernel, route, new RequestContext(kernel, incoming, response), noParameters);
  });
  const options = {
    addresses: kernel.addresses,
    answers: { keepsAlive: () => !kernel.closing, date: () => httpDate(Date.now()) },
    serve(incoming: Incoming, response: PlainResponse): boolean {
      const route = routes.get(incoming.url);
      if (route === undefined) return false;
      arrived.add({ route, incoming, response }, kernel.inFlight === 0);
      return true;
    },
    delegate(socket: Socket): void {
      for (const listener of toNode) listener.call(server, socket);
    },
    onClose: (connection: PlainConnection) => void connections.delete(connection),
  };

  server.removeAllListeners("connection");
  server.on("connection", (socket: Socket) => connections.add(new PlainConnection(socket, options)));
  const sweep = setInterval(() => {
    const nowMs = performance.now();
    for (const connection of connections) connection.sweep(nowMs);
  }, httpLimits.plainSweepMs).unref();
  server.once("close", () => clearInterval(sweep));

  return {
    add(path, route) {
      const plain = path.replace(/\/+$/, "");
      routes.set(plain, route).set(`${plain}/`, route);
    },
    close(isLate) {
      for (const connection of connections) connection.close(isLate);
    },
  };
}

type PlainConnectionOptions = {
  /** Serves a request; returns false if the fast path has no route at its path. */
  serve: (incoming: Incoming, response: PlainResponse) => boolean;
  answers: Pick<PlainResponseOptions, "keepsAlive" | "date">;
  addresses: ClientAddresses;
  /** Passes the connection to Node, with unread bytes put back. */
  delegate: (socket: Socket) => void;
  onClose: (connection: PlainConnection) => void;
};

const none = Buffer.alloc(0);

/**
 * One connection, while it carries only plain requests, one after the other. A request is served once it is complete;
 * until then none of its bytes are consumed, so that the connection can be passed to Node at any time between two
 * requests.
 */
class PlainConnection {
  readonly #socket: Socket;
  readonly #options: PlainConnectionOptions;
  #bytes: Buffer = none;
  /** The head of the request whose body is incomplete. */
  #head: PlainHead | undefined;
  #response: PlainResponse | undefined;
  /** When it began to wait for a request, or for the rest of one; by the monotonic clock, in milliseconds. */
  #sinceMs = performance.now();
  #served = 0;
  #isReading = false;
  /** A response announced that the connection closes: later requests are not served. */
  #isOver = false;
  /** The number of chunks that make up the buffered bytes. */
  #pieces = 0;
  readonly #answerOptions: PlainResponseOptions;

  constructor(socket: Socket, options: PlainConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#answerOptions = { ...options.answers, onEnd: (goesOn) => this.#onAnswered(goesOn) };
    socket.on("data", this.#onData).on("end", this.#onEnd).on("error", this.#onError).on("close", this.#onClose);
  }

  /** Called periodically: enforces how long a connection may be idle. */
  sweep(nowMs: number): void {
    if (this.#response !== undefined) return;
    const waitedMs = nowMs - this.#sinceMs;
    const isIdle = this.#bytes.length === 0 && this.#served > 0;
    if (isIdle) {
      if (waitedMs > httpLimits.keepAliveMs) this.#socket.destroy();
    } else if (waitedMs > httpLimits.plainWaitMs) this.#delegate();
  }

  /** Closes the connection, unless a response is in progress and `isLate` is false. */
  close(isLate: boolean): void {
    if (isLate || this.#response === undefined) this.#socket.destroy();
  }

  readonly #onData = (bytes: Buffer): void => {
    if (this.#isOver) return;
    this.#pieces += 1;
    if (this.#bytes.length === 0) {
      if (this.#response === undefined) this.#sinceMs = performance.now();
      this.#bytes = bytes;
    } else this.#bytes = Buffer.concat([this.#bytes, bytes]);
    if (this.#response !== undefined) {
      // A few pipelined requests are buffered here; the others wait in the network.
      if (this.#bytes.length > httpLimits.plainBodyBytes) this.#socket.pause();
      return;
    }
    this.#read();
    // Each chunk costs a copy of those before it: a sender of many small ones goes to Node.
    if (this.#pieces > httpLimits.plainPieces && this.#response === undefined) this.#delegate();
  };

  /** Serves the buffered requests in order. */
  #read(): void {
    if (this.#isReading) return;
    this.#isReading = true;
    while (!this.#isOver && this.#response === undefined && this.#bytes.length > 0) {
      const head = this.#head ?? readPlainHead(this.#bytes);
      if (head === "partial") break;
      if (head === "other") return this.#delegate();
      const end = head.headBytes + head.bodyBytes;
      if (this.#bytes.length < end) {
        this.#head = head;
        break;
      }
      if (!this.#serve(head, this.#bytes.subarray(head.headBytes, end))) return this.#delegate();
      this.#bytes = end === this.#bytes.length ? none : this.#bytes.subarray(end);
      this.#head = undefined;
      this.#pieces = this.#bytes.length === 0 ? 0 : 1;
    }
    this.#isReading = false;
  }

  #serve(head: PlainHead, body: Buffer | undefined): boolean {
    const response = new PlainResponse(this.#socket, this.#answerOptions);
    this.#response = response;
    this.#served += 1;
    const isServed = this.#options.serve(new PlainRequest(head, body, this.#socket, this.#options.addresses), response);
    if (!isServed) {
      this.#response = undefined;
      this.#served -= 1;
    }
    return isServed;
  }

  #onAnswered(goesOn: boolean): void {
    this.#response = undefined;
    if (!goesOn) {
      this.#isOver = true;
      this.#bytes = none;
      this.#socket.end();
      return;
    }
    this.#sinceMs = performance.now();
    if (this.#socket.isPaused()) this.#socket.resume();
    if (this.#bytes.length > 0) this.#read();
  }

  #delegate(): void {
    const socket = this.#socket;
    socket.off("data", this.#onData).off("end", this.#onEnd).off("error", this.#onError).off("close", this.#onClose);
    this.#options.onClose(this);
    // Paused, so that the bytes put back stay buffered until Node listens.
    socket.pause();
    if (this.#bytes.length > 0) socket.unshift(this.#bytes);
    this.#bytes = none;
    this.#options.delegate(socket);
    socket.resume();
  }

  /** A client that closed its side does not wait for a response either; Node's server behaves the same. */
  readonly #onEnd = (): void => void this.#socket.destroy();
  readonly #onError = (): void => void this.#socket.destroy();

  readonly #onClose = (): void => {
    // A request with an incomplete body is still counted and logged, as one whose client disconnected.
    if (this.#response === undefined && this.#head !== undefined) this.#serve(this.#head, undefined);
    this.#response?.markDisconnected();
    this.#options.onClose(this);
  };
}

/** A complete request. */
class PlainRequest implements Incoming {
  readonly method = "POST";
  readonly url: string;
  readonly headers: PlainHead["headers"];
  /** Undefined if the client disconnected before it was complete. */
  readonly wholeBody: Buffer | undefined;
  readonly #socket: Socket;
  readonly #addresses: ClientAddresses;

  constructor({ path, headers }: PlainHead, body: Buffer | undefined, socket: Socket, addresses: ClientAddresses) {
    this.url = path;
    this.headers = headers;
    this.wholeBody = body;
    this.#socket = socket;
    this.#addresses = addresses;
  }

  get ip(): string {
    return this.#addresses.of(this.#socket.remoteAddress ?? "", lineOf(this.headers["x-forwarded-for"]));
  }

  get protocol(): string {
    return this.#forwarded("x-forwarded-proto") ?? "http";
  }

  get host(): string {
    return this.#forwarded("x-forwarded-host") ?? this.headers.host ?? "";
  }

  get prefix(): string {
    return this.#forwarded("x-forwarded-prefix") ?? "";
  }

  isComplete(): boolean {
    return true;
  }

  readBody(maxBytes: number, reservation: BodyReservation): Promise<Buffer> {
    const bytes = this.wholeBody;
    if (bytes === undefined) return Promise.reject(new ClientDisconnected());
    if (bytes.length > maxBytes) return Promise.reject(tooLarge(maxBytes, "request body"));
    return reservation.take(bytes.length) ? Promise.resolve(bytes) : Promise.reject(busy());
  }

  drain(): Promise<void> {
    return Promise.resolve();
  }

  #forwarded(name: ForwardedHeader): string | undefined {
    return forwarded(this.#addresses, this.#socket.remoteAddress ?? "", this.headers, name);
  }
}

/** The head of a request that the fast path serves. */
type PlainHead = {
  /** The path, without query. */
  path: string;
  headers: IncomingHttpHeaders;
  /** Bytes of the head, including the empty line. */
  headBytes: number;
  bodyBytes: number;
};

/** `partial`: more bytes are needed. `other`: Node must read it. */
type HeadRead = PlainHead | "partial" | "other";

const plainPath = /^\/[\w\-./~]*$/;
const version = " HTTP/1.1\r\n";
const [lf, cr, space, colon] = [0x0a, 0x0d, 0x20, 0x3a];
const crlfBytes = 2;
const plainLength = /^\d{1,7}$/;

/** Headers that make a request more than a head and a body of stated length, or that end the connection. */
const special: ReadonlySet<string> = new Set([
  "transfer-encoding",
  "te",
  "trailer",
  "expect",
  "upgrade",
  "proxy-connection",
  "http2-settings",
]);

const postStart = Buffer.from("POST /");
const pathAt = "POST ".length;

/**
 * Reads the head of a POST that every HTTP/1.1 parser would read the same way: every header once and in plain
 * characters, one `Host`, one `Content-Length`, no transfer coding. Everything else goes to Node's parser: only Node
 * decides what is refused, and how.
 */
export function readPlainHead(bytes: Buffer): HeadRead {
  if (!startsAlike(bytes, postStart)) return "other";
  const end = findHeadEnd(bytes);
  if (end === -1) return bytes.length > httpLimits.plainHeadBytes ? "other" : "partial";
  if (end > httpLimits.plainHeadBytes) return "other";

  const text = bytes.toString("latin1", 0, end + crlfBytes);
  const pathEnd = findByte(bytes, space, pathAt, text.length);
  const path = text.slice(pathAt, pathEnd);
  if (!text.startsWith(version, pathEnd) || !plainPath.test(path)) return "other";
  const headers = readHeaders(bytes, text, pathEnd + version.length);
  if (headers === undefined) return "other";
  const length = headers["content-length"];
  if (length === undefined || !plainLength.test(length) || headers.host === undefined) return "other";
  const bodyBytes = Number(length);
  if (bodyBytes > httpLimits.plainBodyBytes) return "other";
  return { path, headers, headBytes: end + 2 * crlfBytes, bodyBytes };
}

/** Names are tokens that begin with a letter; values are visible ASCII, spaces and tabs. */
function readHeaders(bytes: Buffer, text: string, from: number): IncomingHttpHeaders | undefined {
  const headers: IncomingHttpHeaders = {};
  const end = text.length;
  let at = from;
  while (at < end) {
    const nameEnd = findByte(bytes, colon, at, end);
    const name = isLetter(bytes[at]) ? fieldNameOf(text.slice(at, nameEnd)) : undefined;
    if (name === undefined || headers[name] !== undefined || special.has(name)) return undefined;

    let start = nameEnd + 1;
    while (isBlank(bytes[start])) start += 1;
    const lineEnd = findLineEnd(bytes, start, end);
    if (bytes[lineEnd] !== cr || bytes[lineEnd + 1] !== lf) return undefined;
    let valueEnd = lineEnd;
    while (valueEnd > start && isBlank(bytes[valueEnd - 1])) valueEnd -= 1;
    const value = text.slice(start, valueEnd);
    if (name === "connection" && value.toLowerCase() !== "keep-alive") return undefined;
    headers[name] = value;
    at = lineEnd + crlfBytes;
  }
  return headers;
}

/** Returns the index of the first byte that is not visible ASCII, a space or a tab. */
function findLineEnd(bytes: Buffer, at: number, end: number): number {
  while (at < end) {
    const byte = bytes[at] ?? 0;
    if ((byte < 0x20 && byte !== 0x09) || byte > 0x7e) break;
    at += 1;
  }
  return at;
}

function isLetter(byte = 0): boolean {
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}
