import type { IncomingHttpHeaders } from "node:http";
import type { FastifyRequest } from "fastify";
import type { BodyReservation } from "./body-memory.ts";
import type { ClientAddresses } from "./client-address.ts";
import { readBody, type BodyObserver } from "./read-body.ts";

/** A request as the kernel sees it, independent of the parser that read it. */
export type Incoming = {
  readonly method: string;
  /** The request target, as sent. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** The caller's address. */
  readonly ip: string;
  readonly protocol: string;
  readonly host: string;
  /** The path prefix under which the nearest proxy serves this server, or "". */
  readonly prefix: string;
  /** Whether the whole request has arrived. */
  isComplete(): boolean;
  /** The whole body as sent, if it has already arrived. */
  readonly wholeBody: Buffer | undefined;
  /** See `readBody`. */
  readBody(maxBytes: number, reservation: BodyReservation, watch?: BodyObserver): Promise<Buffer>;
  /** Discards what still arrives, for at most `waitMs` milliseconds. */
  drain(waitMs: number): Promise<void>;
};

/** A request that Node and Fastify parsed. */
export function incomingOf(request: FastifyRequest, addresses: ClientAddresses): Incoming {
  const message = request.raw;
  const peer = message.socket.remoteAddress ?? "";
  return {
    method: message.method ?? "",
    url: request.url,
    headers: message.headers,
    get ip() {
      return addresses.of(peer, lineOf(message.headers["x-forwarded-for"]));
    },
    get protocol() {
      return forwarded(addresses, peer, message.headers, "x-forwarded-proto") ?? "http";
    },
    get host() {
      return forwarded(addresses, peer, message.headers, "x-forwarded-host") ?? message.headers.host ?? "";
    },
    get prefix() {
      return forwarded(addresses, peer, message.headers, "x-forwarded-prefix") ?? "";
    },
    isComplete: () => message.complete,
    wholeBody: undefined,
    readBody: (maxBytes, reservation, watch) => readBody(message, maxBytes, reservation, watch),
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

export type ForwardedHeader = "x-forwarded-proto" | "x-forwarded-host" | "x-forwarded-prefix";

/** The value that the nearest proxy sent, if that proxy is trusted. */
export function forwarded(
  addresses: ClientAddresses,
  peer: string,
  headers: IncomingHttpHeaders,
  name: ForwardedHeader,
): string | undefined {
  const lastValue = lineOf(headers[name])?.split(",").at(-1)?.trim();
  return lastValue === undefined || lastValue === "" || !addresses.isProxy(peer) ? undefined : lastValue;
}

/** Joins the values of a header that was sent several times. */
export function lineOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(", ") : header;
}
