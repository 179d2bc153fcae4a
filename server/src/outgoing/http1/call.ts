import type { IncomingHttpHeaders } from "node:http";
import type { AnswerSink } from "./answer-parser.ts";
import type { Connection } from "./connection.ts";
import type { ExchangeController, ExchangeHandler } from "./exchange-handler.ts";

const none: readonly Buffer[] = [];

/** One exchange from its request to its end, independent of the connection that carries it. */
export class Call implements ExchangeController, AnswerSink {
  readonly method: string;
  readonly #handler: ExchangeHandler;
  readonly #onAbandoned: (call: Call) => void;
  /** The encoded request; empty once it cannot be sent again. */
  pieces: readonly Buffer[] = [];
  /** The connection that carries it now. */
  connection: Connection | undefined;
  isPaused = false;
  /** Whether any byte of a response has arrived. */
  isAnswered = false;
  isOver = false;

  /** @param onAbandoned called when the call is aborted while no connection carries it */
  constructor(method: string, handler: ExchangeHandler, onAbandoned: (call: Call) => void) {
    this.method = method;
    this.#handler = handler;
    this.#onAbandoned = onAbandoned;
  }

  start(): void {
    try {
      this.#handler.onRequestStart(this);
    } catch (error) {
      this.fail(error);
    }
  }

  abort(reason: Error): void {
    if (this.isOver) return;
    if (this.connection !== undefined) {
      this.connection.fail(reason);
      return;
    }
    this.#onAbandoned(this);
    this.fail(reason);
  }

  pause(): void {
    this.isPaused = true;
    this.connection?.pause();
  }

  resume(): void {
    this.isPaused = false;
    this.connection?.resume();
  }

  /** Called on the first bytes of the response. */
  markAnswered(): void {
    this.isAnswered = true;
    // Small pieces are views of larger pooled buffers, which a long response would retain.
    this.pieces = none;
  }

  onHead(status: number, headers: IncomingHttpHeaders): void {
    if (!this.isOver) this.#handler.onResponseStart(this, status, headers);
  }

  onData(bytes: Buffer): void {
    if (!this.isOver) this.#handler.onResponseData(this, bytes);
  }

  end(): void {
    if (this.isOver) return;
    this.#close();
    try {
      this.#handler.onResponseEnd(this);
    } catch (error) {
      this.#report(error);
    }
  }

  fail(error: unknown): void {
    if (this.isOver) return;
    this.#close();
    this.#report(error);
  }

  #close(): void {
    this.isOver = true;
    this.connection = undefined;
  }

  #report(error: unknown): void {
    try {
      this.#handler.onResponseError(this, error instanceof Error ? error : new Error("the exchange failed"));
    } catch {
      // The error was already reported to the handler; there is nowhere else to report it.
    }
  }
}
