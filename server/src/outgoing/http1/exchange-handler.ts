import type { IncomingHttpHeaders } from "node:http";

/** A request whose body is in memory, so that its length is known and it can be sent again. */
export type OutgoingRequest = {
  method: string;
  /** Path and query, already encoded. */
  path: string;
  headers?: Readonly<Record<string, string>>;
  /** Text is sent as UTF-8. Pieces are sent one after the other without being copied. */
  body?: string | Buffer | readonly Buffer[];
};

/** What the caller can do while the response arrives. */
export type ExchangeController = {
  /** Closes the connection; the handler receives `reason` as its error. No effect after the end. */
  abort(reason: Error): void;
  /** Stops reading from the connection. Data that was already read, at most 64 KiB, may still arrive. */
  pause(): void;
  resume(): void;
};

/**
 * Receives the events of one exchange: a start, then a head, data and an end; or an error at any point after the start,
 * and then nothing more. An error that it throws is passed back to it as that error. It may keep the buffers.
 */
export type ExchangeHandler = {
  onRequestStart(controller: ExchangeController): void;
  /** @param headers by lower-case names */
  onResponseStart(controller: ExchangeController, status: number, headers: IncomingHttpHeaders): void;
  onResponseData(controller: ExchangeController, bytes: Buffer): void;
  onResponseEnd(controller: ExchangeController): void;
  onResponseError(controller: ExchangeController, error: Error): void;
};
