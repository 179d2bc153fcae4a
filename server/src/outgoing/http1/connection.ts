import type { Socket } from "node:net";
import type { IncomingHttpHeaders } from "node:http";
import { fieldNameOf, isFieldValue, isToken } from "../../lib/header-fields.ts";
import { outgoingLimits } from "../limits.ts";
import { AnswerParser, closedEarly, type AnswerSink } from "./answer-parser.ts";
import { ExchangeError } from "./errors.ts";
import type { ExchangeController, ExchangeHandler, OutgoingRequest } from "./exchange-handler.ts";

/** Receives the events of a connection. */
export type ConnectionOwner = {
  /** The response is complete; another request may follow within `restMs` milliseconds. */
  onIdle(connection: Connection, idleMs: number): void;
  /** The connection was closed. */
  onClosed(connection: Connection): void;
  /** The connection was closed during a call that will be sent again on a new one; see `#wasIdle`. */
  onUnanswered(call: Call): void;
};

/** A socket that carries one exchange after another. */
export class Connection {
  readonly #socket: Socket;
  readonly #owner: ConnectionOwner;
  #call: Call | undefined;
  #parser: AnswerParser | undefined;
  #hasAnswered = false;
  #sentAtMs = 0;
  /** Runs until an end of the connection is too late to be one of an idle connection. */
  #soon: NodeJS.Timeout | undefined;
  #isLate = false;
  /** Set while reading is paused for the rest of a turn of the event loop. */
  #nextTurn: NodeJS.Immediate | undefined;
  #isClosed = false;

  constructor(socket: Socket, owner: ConnectionOwner) {
    this.#socket = socket;
    this.#owner = owner;
    socket
      .on("data", (bytes: Buffer) => this.#read(bytes))
      .on("end", () => this.#finish())
      .on("error", (error) => this.#lose(error))
      .on("close", () => this.#lose(closedEarly()));
  }

  /** May be called only while the connection is idle or new. */
  send(call: Call): void {
    this.#call = call;
    this.#parser = new AnswerParser(call.method, call);
    this.#sentAtMs = performance.now();
    if (this.#hasAnswered) this.#watchForEnd(call);
    call.connection = this;
    if (call.isPaused) this.#socket.pause();
    this.#write(call.pieces);
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    if (this.#nextTurn === undefined) this.#socket.resume();
  }

  /** Closes the connection and fails its call. */
  fail(error: unknown): void {
    const call = this.#call;
    this.destroy();
    call?.fail(error);
  }

  /** Closes the connection without notifying the call. */
  destroy(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#letGo();
    clearImmediate(this.#nextTurn);
    this.#socket.destroy();
    this.#owner.onClosed(this);
  }

  /** Bodies are already in memory, so back-pressure is ignored: a slow reader costs nothing more. */
  #write(pieces: readonly Buffer[]): void {
    const socket = this.#socket;
    if (pieces.length > 1) socket.cork();
    for (const piece of pieces) socket.write(piece);
    if (pieces.length > 1) socket.uncork();
  }

  #read(bytes: Buffer): void {
    const [call, parser] = [this.#call, this.#parser];
    // Bytes without a request: they must not become the response to the next one.
    if (call === undefined || parser === undefined) return this.destroy();
    if (!call.isAnswered) call.markAnswered();
    try {
      const taken = parser.push(bytes);
      if (call !== this.#call) return;
      if (parser.isComplete) this.#complete(call, taken === bytes.length ? parser.idleMs : 0);
      else if (bytes.length >= outgoingLimits.upstreamTurnBytes) this.#restOfTurn();
    } catch (error) {
      this.fail(error);
    }
    return undefined;
  }

  /**
   * Drops the exchange: an idle connection would otherwise keep alive everything that the call, which is the parser's
   * sink, references.
   */
  #letGo(): void {
    clearTimeout(this.#soon);
    this.#call = undefined;
    this.#parser = undefined;
  }

  /** More bytes may have arrived, which would be read before all other work: the sender decides how long that takes. */
  #restOfTurn(): void {
    if (this.#nextTurn !== undefined) return;
    this.#socket.pause();
    this.#nextTurn = setImmediate(() => this.#readOn());
  }

  #readOn(): void {
    clearImmediate(this.#nextTurn);
    this.#nextTurn = undefined;
    if (this.#call?.isPaused !== true) this.#socket.resume();
  }

  /** The peer sends no more, which completes a response or leaves it incomplete. */
  #finish(): void {
    const [call, parser] = [this.#call, this.#parser];
    if (call === undefined || parser === undefined) return this.destroy();
    try {
      parser.finish();
    } catch (error) {
      return !this.#isLate && this.#wasIdle(call) ? this.#passOn(call) : this.fail(error);
    }
    return this.#complete(call, 0);
  }

  /** The socket was lost without an orderly end. */
  #lose(error: unknown): void {
    const call = this.#call;
    if (call !== undefined && !this.#isClosed && this.#wasIdle(call)) this.#passOn(call);
    else this.fail(error);
  }

  #complete(call: Call, idleMs: number): void {
    this.#letGo();
    this.#hasAnswered = true;
    if (this.#nextTurn !== undefined) this.#readOn();
    // A peer that responded before it received the whole request may close the connection.
    if (idleMs <= 0 || this.#socket.writableLength > 0) this.destroy();
    else {
      if (call.isPaused) this.#socket.resume();
      this.#owner.onIdle(this, idleMs);
    }
    call.end();
  }

  /** An end that arrived in time is processed before `#isLate` is set, however long this process was busy. */
  #watchForEnd(call: Call): void {
    this.#isLate = false;
    const late = (): void => {
      if (this.#call === call) this.#isLate = true;
    };
    this.#soon = setTimeout(() => setImmediate(late), outgoingLimits.upstreamIdleEndMs);
  }

  /**
   * Whether the peer closed or reset an idle connection while the call was on its way. Paying twice for a response is
   * worse than an error, so a call is resent only if the peer has almost certainly not worked on it: the connection had
   * carried a response before, no byte of this response has arrived, and the time is too short for a model to respond.
   * It is resent at most once: the new connection has not carried a response before.
   */
  #wasIdle({ isAnswered }: Call): boolean {
    const isSoon = performance.now() - this.#sentAtMs < outgoingLimits.upstreamIdleResetMs;
    return this.#hasAnswered && !isAnswered && isSoon;
  }

  /**
   * Resends the call on a new connection. The owner is notified before this connection closes, so that its pool does
   * not count as drained.
   */
  #passOn(call: Call): void {
    call.connection = undefined;
    this.#owner.onUnanswered(call);
    this.destroy();
  }
}

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

const target = /^\/[\x21-\x7e]*$/;

/**
 * Headers that follow from the body and the connection. They are written here: other values from callers would break
 * the framing.
 */
const ours = new Set([
  "host",
  "content-length",
  "transfer-encoding",
  "connection",
  "keep-alive",
  "upgrade",
  "expect",
  "te",
]);

const smallBytes = 16 * 1024;

/**
 * Encodes a request as the pieces to write. A small one is one piece: copying the body costs less than a second write.
 * @param host the value of the Host header
 * @throws ExchangeError `BAD_REQUEST`
 */
export function encodeRequest(
  { method, path, headers = {}, body = "" }: OutgoingRequest,
  host: string,
): readonly Buffer[] {
  if (!isToken(method) || !target.test(path)) throw badRequest("its method or path");
  const pieces = typeof body === "string" ? [Buffer.from(body)] : Buffer.isBuffer(body) ? [body] : body;
  const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);

  let head = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`;
  for (const name in headers) {
    const text = headers[name] ?? "";
    const lowerName = fieldNameOf(name);
    if (lowerName === undefined || !isFieldValue(text)) throw badRequest(`its header ${JSON.stringify(name)}`);
    if (ours.has(lowerName)) throw badRequest(`its header ${name}, which is the connection's own`);
    head += `${name}: ${text}\r\n`;
  }
  const hasLength = bytes > 0 || (method !== "GET" && method !== "HEAD");
  head += hasLength ? `content-length: ${bytes}\r\n\r\n` : "\r\n";

  if (bytes > smallBytes) return [Buffer.from(head, "latin1"), ...pieces];
  const whole = Buffer.allocUnsafe(head.length + bytes);
  let at = whole.write(head, "latin1");
  for (const piece of pieces) at += piece.copy(whole, at);
  return [whole];
}

function badRequest(what: string): ExchangeError {
  return new ExchangeError("BAD_REQUEST", `the request cannot be sent for ${what}`);
}
