/**
 * Why an exchange failed, besides socket errors.
 * - `BAD_REQUEST`: the request cannot be encoded; nothing was sent.
 * - `BAD_ANSWER`: the response is not HTTP/1.1, or exceeds the bounds.
 * - `CONNECTION_CLOSED`: the peer closed the connection before its response was complete.
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
  return new ExchangeError("BAD_ANSWER", `the response is not HTTP/1.1: ${what}`);
}
