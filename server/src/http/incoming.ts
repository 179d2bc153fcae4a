import type { IncomingHttpHeaders } from "node:http";
import type { FastifyRequest } from "fastify";
import type { BodyHold } from "./body-memory.ts";
import { readBody } from "./read-body.ts";

/** A request as the kernel sees it, whoever read it from the wire. */
export type Incoming = {
  readonly method: string;
  /** The request target, as sent. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** The caller's address. */
  readonly ip: string;
  readonly protocol: string;
  readonly host: string;
  /** All of it has arrived. */
  isComplete(): boolean;
  /** All of the body as sent, where it is there already. */
  readonly wholeBody: Buffer | undefined;
  /** See `readBody`. */
  readBody(maxBytes: number, hold: BodyHold): Promise<Buffer>;
  /** Throws away what still arrives, for so long at most. */
  drain(waitMs: number): Promise<void>;
};

/** A request that Node and Fastify have read. */
export function incomingOf(request: FastifyRequest): Incoming {
  const message = request.raw;
  return {
    method: message.method ?? "",
    url: request.url,
    headers: message.headers,
    get ip() {
      return request.ip;
    },
    get protocol() {
      return request.protocol;
    },
    get host() {
      return request.host;
    },
    isComplete: () => message.complete,
    wholeBody: undefined,
    readBody: (maxBytes, hold) => readBody(message, maxBytes, hold),
    drain: (waitMs) =>
      new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, waitMs);
        const stop = (): void => {
          clearTimeout(timer);
          resolve();
        };
        message.once("end", stop).once("close", stop).resume();
      }),
  };
}
