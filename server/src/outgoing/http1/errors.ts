/**
 * Why an exchange came to no end, besides what sockets say themselves.
 * - `BAD_REQUEST`: the request cannot be put on the wire as it is; nothing was sent.
 * - `BAD_ANSWER`: what came is not an HTTP/1.1 answer, or beyond our bounds.
 * - `CONNECTION_CLOSED`: the peer closed before its answer was complete.
 */
export type ExchangeErrorCode = "BAD_REQUEST" | "BAD_ANSWER" | "CONNECTION_CLOSED";

export class ExchangeError extends Error {
  readonly code: ExchangeErrorCode;

  constructor(code: ExchangeErrorCode, message: string) {
    super(message);
    this.name = "ExchangeError";
    this.code = code;
  }
}

export function badAnswer(what: string): ExchangeError {
  return new ExchangeError("BAD_ANSWER", `the answer is not HTTP/1.1: ${what}`);
}
