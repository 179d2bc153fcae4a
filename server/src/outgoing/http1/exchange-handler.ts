import type { IncomingHttpHeaders } from "node:http";

/** What the one who asked can do while the answer is under way. */
export type ExchangeController = {
  /** Cuts the connection; the handler is told of `reason` as its error. After the end it does nothing. */
  abort(reason: Error): void;
  /** Reads no more from the connection. What was read already, 64 KiB at most, may still come. */
  pause(): void;
  resume(): void;
};

/**
 * Told of one exchange: a start, then a head, data and an end; or an error at any point after the start, and nothing
 * more. What it throws comes back to it as the error. Buffers are its own to keep.
 */
export type ExchangeHandler = {
  onRequestStart(controller: ExchangeController): void;
  /** @param headers by lower-case names */
  onResponseStart(controller: ExchangeController, status: number, headers: IncomingHttpHeaders): void;
  onResponseData(controller: ExchangeController, bytes: Buffer): void;
  onResponseEnd(controller: ExchangeController): void;
  onResponseError(controller: ExchangeController, error: Error): void;
};
