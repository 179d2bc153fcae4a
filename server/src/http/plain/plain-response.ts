import { STATUS_CODES, type OutgoingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import { fieldNameOf, isFieldValue } from "../../lib/header-fields.ts";
import { httpLimits } from "../limits.ts";
import type { ResponseWriter } from "../response-writer.ts";

/** Larger bodies are written separately instead of being copied behind the head. */
const joinedBytes = 16_384;

export type PlainResponseOptions = {
  /** Whether the response may announce that the connection stays open. */
  keepsAlive: () => boolean;
  /** The text of the `Date` header. */
  date: () => string;
  /** Called once, when the last byte was written. `goesOn`: the connection stays open. */
  onEnd: (goesOn: boolean) => void;
};

/** The response to one request of the fast path: HTTP/1.1, with `content-length` or chunked. */
export class PlainResponse implements ResponseWriter {
  statusCode = 200;
  headersSent = false;
  writableFinished = false;
  destroyed = false;
  readonly #socket: Socket;
  readonly #options: PlainResponseOptions;
  #early: Record<string, string> | undefined;
  #head = "";
  #isChunked = false;
  #goesOn = true;
  #isEnded = false;
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  #onClose: Array<() => void> = [];

  constructor(socket: Socket, options: PlainResponseOptions) {
    this.#socket = socket;
    this.#options = options;
  }

  setHeader(name: string, value: string): void {
    (this.#early ??= {})[name] = value;
  }

  getHeaderNames(): string[] {
    return Object.keys(this.#early ?? {});
  }

  removeHeader(name: string): void {
    delete this.#early?.[name];
  }

  /** @throws TypeError for a header that cannot be sent */
  writeHead(status: number, headers: OutgoingHttpHeaders): void {
    if (this.headersSent) throw new Error("The head of this response was already sent.");
    const early = this.#early;
    let lines = "";
    if (early !== undefined) {
      for (const name in early) if (headers[name] === undefined) lines += headerLine(name, early[name] ?? "");
    }
    let hasLength = status === 204 || status === 304;
    let goesOn = this.#options.keepsAlive();
    for (const name in headers) {
      const value = headers[name];
      if (value === undefined) continue;
      if (name === "content-length") hasLength = true;
      if (name === "connection" && value === "close") goesOn = false;
      else lines += headerLine(name, value);
    }
    if (!hasLength) lines += "transfer-encoding: chunked\r\n";
    lines += goesOn ? keepAlive : "connection: close\r\n";
    this.statusCode = status;
    this.headersSent = true;
    this.#isChunked = !hasLength;
    this.#goesOn = goesOn;
    this.#head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "Unknown"}\r\n${lines}date: ${this.#options.date()}\r\n\r\n`;
  }

  flushHeaders(): void {
    if (!this.headersSent) this.writeHead(this.statusCode, {});
    this.#send("");
  }

  /** Data written within one turn of the event loop is sent together, as chunks of a stream often arrive together. */
  write(data: string | Uint8Array): boolean {
    if (this.#isEnded || this.destroyed) return true;
    if (!this.headersSent) this.writeHead(this.statusCode, {});
    this.#pending.push(typeof data === "string" ? Buffer.from(data) : data);
    this.#pendingBytes += byteLength(data);
    if (this.#pendingBytes > joinedBytes) return this.#flush();
    if (this.#pending.length === 1) queueMicrotask(() => this.#flush());
    return !this.#socket.writableNeedDrain;
  }

  end(data: string | Uint8Array = ""): void {
    if (this.#isEnded || this.destroyed) return;
    this.#isEnded = true;
    if (!this.headersSent) this.writeHead(this.statusCode, { "content-length": byteLength(data) });
    this.#send(this.#pending.length === 0 ? data : this.#takePending(data), () => this.#finish());
    this.#options.onEnd(this.#goesOn);
  }

  destroy(): void {
    this.#socket.destroy();
  }

  once(event: "close" | "drain", listener: () => void): void {
    if (event === "drain") this.#socket.once("drain", listener);
    else if (this.destroyed) queueMicrotask(listener);
    else this.#onClose.push(listener);
  }

  /** Marks the connection as closed and calls the `close` listeners, once. */
  markDisconnected(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    for (const listener of this.#onClose) listener();
    this.#onClose = [];
  }

  #finish(): void {
    if (this.destroyed) return;
    // The callback also runs if the write failed.
    this.writableFinished = !this.#socket.destroyed;
    this.markDisconnected();
  }

  #flush(): boolean {
    if (this.#pending.length === 0 || this.destroyed) return true;
    const data = this.#takePending();
    return data.length === 0 && this.#head === "" ? true : this.#send(data);
  }

  /** Takes the pending data, followed by `last`. */
  #takePending(last: string | Uint8Array = ""): Uint8Array {
    const pieces = last.length === 0 ? this.#pending : [...this.#pending, Buffer.from(last)];
    const [first] = pieces;
    this.#pending = [];
    this.#pendingBytes = 0;
    return pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces);
  }

  /** Sends head, chunk frame and data together if they are small: one buffer, one system call. */
  #send(data: string | Uint8Array, onLast?: () => void): boolean {
    const bytes = byteLength(data);
    let before = this.#head;
    let after = "";
    this.#head = "";
    if (this.#isChunked) {
      if (bytes > 0) before += `${bytes.toString(16)}\r\n`;
      after = (bytes > 0 ? "\r\n" : "") + (onLast === undefined ? "" : "0\r\n\r\n");
    }
    const socket = this.#socket;
    if (bytes > joinedBytes) {
      socket.cork();
      if (before !== "") socket.write(before, "latin1");
      const goesOn = socket.write(data, after === "" ? onLast : undefined);
      if (after !== "") socket.write(after, "latin1", onLast);
      socket.uncork();
      return goesOn;
    }
    const joined = Buffer.allocUnsafe(before.length + bytes + after.length);
    let at = before === "" ? 0 : joined.write(before, 0, "latin1");
    if (typeof data === "string") at += joined.write(data, at, "utf8");
    else {
      joined.set(data, at);
      at += bytes;
    }
    if (after !== "") joined.write(after, at, "latin1");
    return socket.write(joined, onLast);
  }
}

const keepAlive = `connection: keep-alive\r\nkeep-alive: timeout=${httpLimits.keepAliveMs / 1_000}\r\n`;

function headerLine(name: string, value: string | number | readonly string[]): string {
  if (typeof value === "object") return value.map((each) => headerLine(name, each)).join("");
  const isFit = fieldNameOf(name) !== undefined && (typeof value === "number" || isFieldValue(value));
  if (!isFit) throw new TypeError(`the header ${name} cannot be sent`);
  return `${name}: ${value}\r\n`;
}

function byteLength(data: string | Uint8Array): number {
  return typeof data === "string" ? Buffer.byteLength(data) : data.length;
}
