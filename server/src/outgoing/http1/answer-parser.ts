import type { IncomingHttpHeaders } from "node:http";
import { outgoingLimits } from "../limits.ts";
import { ChunkedBody } from "./chunked-body.ts";
import { badAnswer, ExchangeError } from "./errors.ts";
import { parseHead, Section, type AnswerHead } from "./parse-head.ts";

export type AnswerSink = {
  onHead(status: number, headers: IncomingHttpHeaders): void;
  /** `bytes` is a view into the bytes that were pushed. */
  onData(bytes: Buffer): void;
};

const versionStart = Buffer.from("HTTP/1.");

/**
 * Parses one response from bytes that may be split anywhere, without touching a socket. Provisional responses (1xx) are
 * skipped, as many as fit within the bound of one head. After it throws, the parser cannot be used again.
 */
export class AnswerParser {
  readonly #method: string;
  readonly #sink: AnswerSink;
  /** Undefined once the head is complete. */
  #head: Section | undefined = new Section(versionStart);
  /** The bytes of provisional heads so far. */
  #provisionalBytes = 0;
  #chunked: ChunkedBody | undefined;
  /** The remaining bytes of a body that is not chunked. */
  #bytes = 0;
  isComplete = false;
  /** How long the connection may be reused while idle, once the response is complete; not at all if 0. */
  idleMs = 0;

  /** @param method the request's method: it determines whether there is a body */
  constructor(method: string, sink: AnswerSink) {
    this.#method = method;
    this.#sink = sink;
  }

  /**
   * @param bytes owned by the parser from now on: the bytes of a chunked body are overwritten
   * @returns how many of the bytes belong to the response: fewer than were passed only when it is complete
   * @throws ExchangeError `BAD_ANSWER`, and whatever the sink throws
   */
  push(bytes: Buffer): number {
    let at = 0;
    while (this.#head !== undefined) {
      const taken = this.#head.take(at === 0 ? bytes : bytes.subarray(at));
      if (taken === -1) return bytes.length;
      at += taken;
      this.#readHead(this.#head);
    }
    return this.isComplete || at === bytes.length ? at : this.#readBody(bytes, at);
  }

  /**
   * Called when the peer sends no more.
   * @throws ExchangeError `CONNECTION_CLOSED` if the response is then incomplete
   */
  finish(): void {
    if (this.#head !== undefined || this.#bytes !== Infinity) throw closedEarly();
    this.isComplete = true;
  }

  #readHead({ bytes: lines, end }: Section): void {
    const head = parseHead(lines, end);
    // The connection would continue in a protocol that was not requested.
    if (head.status === 101) throw badAnswer("an upgrade");
    if (head.status < 200) {
      this.#provisionalBytes += end + "\r\n".length;
      if (this.#provisionalBytes > outgoingLimits.upstreamHeadBytes) throw badAnswer("too many provisional responses");
      this.#head = new Section(versionStart);
      return;
    }
    this.#head = undefined;
    const { isChunked, bytes, idleMs } = frameBody(head, this.#method);
    if (isChunked) this.#chunked = new ChunkedBody();
    this.#bytes = bytes;
    this.idleMs = idleMs;
    this.#sink.onHead(head.status, head.headers);
    this.isComplete = !isChunked && bytes === 0;
  }

  #readBody(bytes: Buffer, at: number): number {
    if (this.#chunked !== undefined) {
      const end = this.#chunked.read(bytes, at, (piece) => this.#sink.onData(piece));
      this.isComplete = this.#chunked.isComplete;
      return end;
    }
    const piece = at === 0 && bytes.length <= this.#bytes ? bytes : bytes.subarray(at, at + this.#bytes);
    this.#bytes -= piece.length;
    this.#sink.onData(piece);
    this.isComplete = this.#bytes === 0;
    return at + piece.length;
  }
}

export function closedEarly(): ExchangeError {
  return new ExchangeError("CONNECTION_CLOSED", "the connection was closed before the answer was complete");
}

/** Where the body of a response ends, and whether its connection can be reused. */
type Framing = {
  isChunked: boolean;
  /** The length of a body that is not chunked; infinite if it ends with the connection. */
  bytes: number;
  /** How long the connection may be idle before it is reused; not at all if 0. */
  idleMs: number;
};

const plainLength = /^\d{1,15}$/;
const timeout = /(?:^|[,;\s])timeout=(\d{1,9})/i;

/** RFC 9112 §6.3, with the strict option wherever it leaves a choice. */
function frameBody(head: AnswerHead, method: string): Framing {
  const { status, headers } = head;
  const { "transfer-encoding": coding, "content-length": length } = headers;
  // No other coding was requested. Repeated lengths, even equal ones, were joined to a list, which is not a number.
  if (coding !== undefined && coding.toLowerCase() !== "chunked") throw badAnswer("an unknown transfer coding");
  if (length !== undefined && !plainLength.test(length)) throw badAnswer("a malformed content-length");

  const idleMs = idleMsOf(head);
  if (method === "HEAD") return { isChunked: false, bytes: 0, idleMs };
  if (status === 204 || status === 304) {
    // A peer that announces a body may send one: it must not be read as the next response.
    const isBare = coding === undefined && Number(length ?? 0) === 0;
    return { isChunked: false, bytes: 0, idleMs: isBare ? idleMs : 0 };
  }
  // If a length contradicts the coding, some intermediary may have used the length.
  if (coding !== undefined) return { isChunked: true, bytes: 0, idleMs: length === undefined ? idleMs : 0 };
  if (length !== undefined) return { isChunked: false, bytes: Number(length), idleMs };
  return { isChunked: false, bytes: Infinity, idleMs: 0 };
}

function idleMsOf({ minorVersion, headers }: AnswerHead): number {
  const { connection = "" } = headers;
  if (hasToken(connection, "close") || (minorVersion === 0 && !hasToken(connection, "keep-alive"))) return 0;
  const keepAlive = headers["keep-alive"];
  const hint = keepAlive === undefined ? undefined : timeout.exec(String(keepAlive))?.[1];
  // One second less than the peer's timeout: its clock started earlier.
  return Math.min(outgoingLimits.upstreamKeepAliveMs, hint === undefined ? Infinity : (Number(hint) - 1) * 1_000);
}

function hasToken(list: string, token: string): boolean {
  // Fast path: nearly all responses have one of these.
  if (list === "" || list === "keep-alive") return list === token;
  return list.split(",").some((item) => item.trim().toLowerCase() === token);
}
