import { lookUp } from "../../lib/look-up.ts";
import type { IncomingHttpHeaders } from "node:http";
import * as zlib from "node:zlib";
import { AddressRefused } from "../../outgoing/address-guard.ts";
import type { ExchangeController, ExchangeHandler } from "../../outgoing/http1/exchange-handler.ts";
import type { HostTrust, Pools } from "../../outgoing/pools.ts";
import type { UpstreamCall, UpstreamProblem } from "../providers/provider.ts";

/** Timeouts for an upstream, in milliseconds. */
export type UpstreamTimeouts = {
  /**
   * Until the first content of its response. Keep-alive bytes before that do not count: models think, and some hang.
   */
  firstByteMs: number;
  /** Between two pieces of its response, once the content has started. */
  idleMs: number;
  /** In total, over all attempts of a call. */
  totalMs: number;
};

/** A request whose body may be a list of pieces, so that it can be sent again without a copy. */
export type OutgoingCall = Omit<UpstreamCall, "body"> & { body: Buffer | readonly Buffer[] };

/** Receives the events of one exchange: a head, data, then either an end or a failure; nothing after `abort`. */
export type ExchangeSink = {
  onHead(status: number, headers: IncomingHttpHeaders): void;
  /** Called with decoded bytes, in case the upstream encoded its response although the request did not allow it. */
  onData(bytes: Buffer): void;
  onEnd(): void;
  onFailure(problem: UpstreamProblem): void;
};

/**
 * One request to an upstream and its response, under the gateway's own timeouts. Time in which the reader pauses the
 * response counts only towards the total.
 */
export class Exchange implements ExchangeHandler {
  readonly #sink: ExchangeSink;
  readonly #timeouts: UpstreamTimeouts;
  #controller: ExchangeController | undefined;
  #decoder: zlib.Gunzip | undefined;
  /** One timer for both timeouts: it checks them when it fires, so that incoming data does not reset a timer. */
  #timer: NodeJS.Timeout | undefined;
  #firesAtMs = 0;
  /** The timer must be moved to an earlier time, once the current read is processed. */
  #isTimerLate = false;
  #quietUntilMs = 0;
  #totalUntilMs = 0;
  #isStarted = false;
  #isOver = false;
  #isPaused = false;

  constructor(sink: ExchangeSink, timeouts: UpstreamTimeouts) {
    this.#sink = sink;
    this.#timeouts = timeouts;
  }

  /** @param call has an absolute url */
  start(pools: Pools, call: OutgoingCall, trust: HostTrust): void {
    const { firstByteMs, totalMs } = this.#timeouts;
    const nowMs = performance.now();
    this.#quietUntilMs = nowMs + firstByteMs;
    this.#totalUntilMs = nowMs + totalMs;
    this.#setTimer(nowMs);
    const place = pools.locate(call.url);
    if (place === undefined) {
      this.#fail({ kind: "fault", status: 0, message: "The provider's address is not a plain http(s) URL." });
      return;
    }
    const { method, headers, body } = call;
    pools.dispatch(place.origin, trust, { method, path: place.path, headers, body }, this);
  }

  /** Discards the response: aborts the connection now, or as soon as it exists. */
  abort(): void {
    if (this.#isOver) return;
    this.#end();
    this.#abortConnection();
  }

  /** The reader has received the first content of the response. */
  markStarted(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#restartIdleTimeout();
  }

  pause(): void {
    if (this.#isPaused || this.#isOver) return;
    this.#isPaused = true;
    this.#controller?.pause();
    this.#decoder?.pause();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#restartIdleTimeout();
    this.#controller?.resume();
    this.#decoder?.resume();
  }

  /**
   * All relevant data has arrived. Discards the rest for up to `waitMs`, so that the connection can be reused if little
   * follows.
   */
  finish(waitMs: number): void {
    if (this.#isOver) return;
    this.#end();
    this.resume();
    this.#timer = setTimeout(() => this.#abortConnection(), waitMs).unref();
  }

  onRequestStart(controller: ExchangeController): void {
    this.#controller = controller;
    if (this.#isOver) this.#abortConnection();
  }

  onResponseStart(_controller: ExchangeController, status: number, headers: IncomingHttpHeaders): void {
    if (this.#isOver) return;
    this.#restartIdleTimeout();
    const coding = headers["content-encoding"];
    if (typeof coding === "string" && coding !== "identity" && coding !== "") this.#decode(coding.toLowerCase());
    // A recipient adds the date to a message that has none (RFC 9110): `retry-after` may be compared with it.
    if (status >= 400 && headers.date === undefined) headers = { ...headers, date: new Date().toUTCString() };
    if (!this.#isOver) this.#sink.onHead(status, headers);
  }

  onResponseData(_controller: ExchangeController, bytes: Buffer): void {
    if (this.#isOver) return;
    this.#restartIdleTimeout();
    if (this.#decoder === undefined) this.#sink.onData(bytes);
    else this.#decoder.write(bytes);
  }

  onResponseEnd(): void {
    if (this.#isOver) {
      clearTimeout(this.#timer);
      return;
    }
    if (this.#decoder !== undefined) this.#decoder.end();
    else this.#complete();
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#fail(problemOf(error));
  }

  #complete(): void {
    if (this.#isOver) return;
    this.#end();
    this.#sink.onEnd();
  }

  #fail(problem: UpstreamProblem): void {
    clearTimeout(this.#timer);
    if (this.#isOver) return;
    this.#end();
    this.#sink.onFailure(problem);
  }

  #timeOut(what: string): void {
    if (this.#isOver) return;
    this.#fail({ kind: "fault", status: 0, message: `The provider ${what}.`, code: "timeout" });
    this.#abortConnection();
  }

  /** Data arrived, or the reader caught up: restarts the idle timeout if the content has started. */
  #restartIdleTimeout(): void {
    if (!this.#isStarted) return;
    this.#quietUntilMs = performance.now() + this.#timeouts.idleMs;
    if (this.#quietUntilMs >= this.#firesAtMs || this.#isTimerLate) return;
    // Most responses arrive whole and end in the read in which they begin: then there is no idle time to watch.
    this.#isTimerLate = true;
    queueMicrotask(this.#moveTimer);
  }

  readonly #moveTimer = (): void => {
    this.#isTimerLate = false;
    if (!this.#isOver) this.#setTimer(performance.now());
  };

  #setTimer(nowMs: number): void {
    clearTimeout(this.#timer);
    if (this.#isOver) return;
    this.#firesAtMs = this.#isPaused ? this.#totalUntilMs : Math.min(this.#quietUntilMs, this.#totalUntilMs);
    this.#timer = setTimeout(this.#onTimer, Math.max(1, this.#firesAtMs - nowMs));
  }

  readonly #onTimer = (): void => {
    const nowMs = performance.now();
    const { firstByteMs, idleMs } = this.#timeouts;
    if (nowMs >= this.#totalUntilMs) this.#timeOut("took longer than a call may");
    else if (this.#isPaused || nowMs < this.#quietUntilMs) this.#setTimer(nowMs);
    else this.#timeOut(this.#isStarted ? `sent nothing for ${idleMs} ms` : `did not answer within ${firstByteMs} ms`);
  };

  #end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#decoder?.destroy();
  }

  #abortConnection(): void {
    this.#controller?.abort(new Error("the response is no longer needed"));
  }

  #decode(coding: string): void {
    const create = lookUp(decoders, coding);
    if (create === undefined) {
      this.#fail({ kind: "fault", status: 0, message: "The provider's response has an unknown content encoding." });
      this.#abortConnection();
      return;
    }
    this.#decoder = create()
      .on("data", (bytes: Buffer) => this.#isOver || this.#sink.onData(bytes))
      .on("end", () => this.#complete())
      .on("error", () => {
        this.#fail({ kind: "fault", status: 0, message: "The provider's response could not be decoded." });
        this.#abortConnection();
      });
  }
}

const flushing = { flush: zlib.constants.Z_SYNC_FLUSH, finishFlush: zlib.constants.Z_SYNC_FLUSH };

const decoders: Record<string, () => zlib.Gunzip> = {
  gzip: () => zlib.createGunzip(flushing),
  "x-gzip": () => zlib.createGunzip(flushing),
  deflate: () => zlib.createInflate(flushing),
  br: () => zlib.createBrotliDecompress({ flush: zlib.constants.BROTLI_OPERATION_FLUSH }),
  zstd: () => zlib.createZstdDecompress(),
};

/** The problem of a failed exchange, without addresses: they must not reach the caller. */
function problemOf(error: Error): UpstreamProblem {
  if (error instanceof AddressRefused) {
    return {
      kind: "request",
      status: 0,
      message:
        "The provider's host has no public address: an operator lists the private hosts that may be called in SPANWAY_ALLOW_PRIVATE_UPSTREAMS.",
      code: "address_refused",
    };
  }
  const code = (error as NodeJS.ErrnoException).code ?? "";
  if (code === "EMFILE" || code === "ENFILE") {
    return {
      kind: "busy",
      status: 0,
      message: "The server has no file descriptors left. Please try again.",
      isUnsent: true,
    };
  }
  return {
    kind: "fault",
    status: 0,
    message: `The connection to the provider failed${descriptions[code] ?? ""}.`,
    code,
  };
}

const descriptions: Record<string, string> = {
  ECONNREFUSED: ": it was refused",
  ECONNRESET: ": it was reset",
  CONNECTION_CLOSED: ": it was closed",
  BAD_ANSWER: ": the answer was not HTTP",
  UND_ERR_CONNECT_TIMEOUT: ": it took too long",
  ENOTFOUND: ": its name is unknown",
  EAI_AGAIN: ": its name cannot be resolved now",
};
