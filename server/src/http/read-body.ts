import type { IncomingMessage } from "node:http";
import { ServiceError } from "../domain/errors.ts";
import type { BodyReservation } from "./body-memory.ts";
import { tooLarge } from "./content-coding.ts";

/** The client disconnected before the request was answered: no response can be sent. */
export class ClientDisconnected extends Error {
  constructor() {
    super("the client closed the connection");
    this.name = "ClientDisconnected";
  }
}

/** Receives each chunk of a body; calling `refuse`, immediately or later, stops the reading. */
export type BodyObserver = (chunk: Buffer, refuse: (error: ServiceError) => void) => void;

/**
 * Reads a body as sent, at most `maxBytes` of it. `hold` takes memory for each chunk, and may end a slow upload.
 * `watch` receives the chunks as they arrive, and may refuse the rest. Throws `payload_too_large` as soon as the bound
 * is known to be exceeded, `unavailable`, or `ClientDisconnected`.
 */
export function readBody(
  request: IncomingMessage,
  maxBytes: number,
  reservation: BodyReservation,
  watch?: BodyObserver,
): Promise<Buffer> {
  const declaredBytes = Number(request.headers["content-length"] ?? 0);
  if (declaredBytes > maxBytes) return Promise.reject(tooLarge(maxBytes, "request body"));

  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let isSettled = false;
    const settle = (error?: Error): void => {
      isSettled = true;
      request.off("data", onData).off("end", onEnd).off("close", onClose);
      reservation.stopReading();
      if (error === undefined)
        resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
      else reject(error);
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size <= maxBytes && reservation.take(chunk.length)) {
        chunks.push(chunk);
        watch?.(chunk, refuse);
        return;
      }
      request.pause();
      settle(size > maxBytes ? tooLarge(maxBytes, "request body") : busy());
    };
    // If the whole body has arrived, refusing saves nothing, and its reader gives a more precise error.
    const refuse = (error: ServiceError): void => {
      if (isSettled || request.complete || size === declaredBytes) return;
      request.pause();
      settle(error);
    };
    const onEnd = (): void => settle();
    const onClose = (): void => settle(new ClientDisconnected());
    reservation.startReading(() => {
      request.pause();
      settle(tooSlow());
    });
    request.on("data", onData).on("end", onEnd).on("close", onClose);
  });
}

export function busy(): ServiceError {
  return new ServiceError("unavailable", "The server is receiving more than it can hold. Please try again.", {
    retryAfterS: 1,
  });
}

function tooSlow(): ServiceError {
  const detail = "The request body arrives too slowly while the server is short of memory. Please try again.";
  return new ServiceError("unavailable", detail, { retryAfterS: 5 });
}
