import type { IncomingHttpHeaders } from "node:http";
import { outgoingLimits } from "../limits.ts";
import { ChunkedBody } from "./chunked-body.ts";
import { badAnswer, ExchangeError } from "./errors.ts";
import { frameBody } from "./frame-body.ts";
import { parseHead } from "./parse-head.ts";
import { Section } from "./section.ts";

export type AnswerSink = {
  onHead(status: number, headers: IncomingHttpHeaders): void;
  /** A view into the bytes that were given. */
  onData(bytes: Buffer): void;
};

const versionStart = Buffer.from("HTTP/1.");

/**
 * Reads one answer from bytes that may be cut anywhere, without touching a socket. Provisional answers (1xx) are read
 * past, as many as have room within the bound of a head. Whatever throws, the parser is of no more use.
 */
export class AnswerParser {
  readonly #method: string;
  readonly #sink: AnswerSink;
  /** Until the head has come. */
  #head: Section | undefined = new Section(versionStart);
  /** Of the heads of provisional answers. */
  #provisionalBytes = 0;
  #chunked: ChunkedBody | undefined;
  /** Bytes of the body to come, where it is not chunked. */
  #bytes = 0;
  isComplete = false;
  /** How long the connection may rest once the answer is complete; not at all if 0. */
  restMs = 0;

  /** @param method that of the request: whether there is a body depends on it. */
  constructor(method: string, sink: AnswerSink) {
    this.#method = method;
    this.#sink = sink;
  }

  /**
   * @param bytes its own: those of a chunked body are overwritten
   * @returns how many of the bytes belong to the answer: fewer than were given only when it is complete.
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
   * The peer will send no more.
   * @throws ExchangeError `CONNECTION_CLOSED` if that leaves the answer incomplete
   */
  finish(): void {
    if (this.#head !== undefined || this.#bytes !== Infinity) throw closedEarly();
    this.isComplete = true;
  }

  #readHead({ bytes: lines, end }: Section): void {
    const head = parseHead(lines, end);
    // It would go on in a protocol that nobody asked for.
    if (head.status === 101) throw badAnswer("an upgrade");
    if (head.status < 200) {
      this.#provisionalBytes += end + "\r\n".length;
      if (this.#provisionalBytes > outgoingLimits.upstreamHeadBytes) throw badAnswer("too many provisional answers");
      this.#head = new Section(versionStart);
      return;
    }
    this.#head = undefined;
    const { isChunked, bytes, restMs } = frameBody(head, this.#method);
    if (isChunked) this.#chunked = new ChunkedBody();
    this.#bytes = bytes;
    this.restMs = restMs;
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
