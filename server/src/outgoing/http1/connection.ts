import type { Socket } from "node:net";
import { outgoingLimits } from "../limits.ts";
import { AnswerParser, closedEarly } from "./answer-parser.ts";
import type { Call } from "./call.ts";

/** Told by a connection what became of it. */
export type ConnectionOwner = {
  /** The answer is complete; another request may follow, within `restMs`. */
  onRest(connection: Connection, restMs: number): void;
  /** It carries nothing any more. */
  onGone(connection: Connection): void;
  /** It was closed under a call that goes out again, on a new connection; see `#wasIdle`. */
  onUnheard(call: Call): void;
};

/** A socket that carries one exchange after another. */
export class Connection {
  readonly #socket: Socket;
  readonly #owner: ConnectionOwner;
  #call: Call | undefined;
  #parser: AnswerParser | undefined;
  #hasAnswered = false;
  #sentAtMs = 0;
  /** Until an end of the connection is too late to be that of an idle one. */
  #soon: NodeJS.Timeout | undefined;
  #isLate = false;
  /** Set while it is not read for the rest of a turn of the event loop. */
  #nextTurn: NodeJS.Immediate | undefined;
  #isGone = false;

  constructor(socket: Socket, owner: ConnectionOwner) {
    this.#socket = socket;
    this.#owner = owner;
    socket
      .on("data", (bytes: Buffer) => this.#read(bytes))
      .on("end", () => this.#finish())
      .on("error", (error) => this.#lose(error))
      .on("close", () => this.#lose(closedEarly()));
  }

  /** Only when it rests or is new. */
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

  /** Cuts it, and with it what it carries. */
  fail(error: unknown): void {
    const call = this.#call;
    this.cut();
    call?.fail(error);
  }

  /** Cuts it without a word to the call. */
  cut(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#letGo();
    clearImmediate(this.#nextTurn);
    this.#socket.destroy();
    this.#owner.onGone(this);
  }

  /** Bodies are in memory, so there is no back-pressure to mind: a slow reader costs nothing more. */
  #write(pieces: readonly Buffer[]): void {
    const socket = this.#socket;
    if (pieces.length > 1) socket.cork();
    for (const piece of pieces) socket.write(piece);
    if (pieces.length > 1) socket.uncork();
  }

  #read(bytes: Buffer): void {
    const [call, parser] = [this.#call, this.#parser];
    // Nobody asked: an answer to the next request it must not become.
    if (call === undefined || parser === undefined) return this.cut();
    if (!call.isHeard) call.hear();
    try {
      const taken = parser.push(bytes);
      if (call !== this.#call) return;
      if (parser.isComplete) this.#complete(call, taken === bytes.length ? parser.restMs : 0);
      else if (bytes.length >= outgoingLimits.upstreamTurnBytes) this.#restOfTurn();
    } catch (error) {
      this.fail(error);
    }
    return undefined;
  }

  /** All of the exchange: a connection that rests would keep alive whatever the call holds on to, the parser's sink. */
  #letGo(): void {
    clearTimeout(this.#soon);
    this.#call = undefined;
    this.#parser = undefined;
  }

  /** More may have come already, which would be read before all else: how long that takes is up to who sends it. */
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

  /** The peer sends no more, which ends an answer or leaves it incomplete. */
  #finish(): void {
    const [call, parser] = [this.#call, this.#parser];
    if (call === undefined || parser === undefined) return this.cut();
    try {
      parser.finish();
    } catch (error) {
      return !this.#isLate && this.#wasIdle(call) ? this.#passOn(call) : this.fail(error);
    }
    return this.#complete(call, 0);
  }

  /** The socket is gone without an orderly end. */
  #lose(error: unknown): void {
    const call = this.#call;
    if (call !== undefined && !this.#isGone && this.#wasIdle(call)) this.#passOn(call);
    else this.fail(error);
  }

  #complete(call: Call, restMs: number): void {
    this.#letGo();
    this.#hasAnswered = true;
    if (this.#nextTurn !== undefined) this.#readOn();
    // A peer that answered before it had all of the request may be through with the connection.
    if (restMs <= 0 || this.#socket.writableLength > 0) this.cut();
    else {
      if (call.isPaused) this.#socket.resume();
      this.#owner.onRest(this, restMs);
    }
    call.end();
  }

  /** An end that came in time is heard before it counts as late, however long this process was busy meanwhile. */
  #watchForEnd(call: Call): void {
    this.#isLate = false;
    const late = (): void => {
      if (this.#call === call) this.#isLate = true;
    };
    this.#soon = setTimeout(() => setImmediate(late), outgoingLimits.upstreamIdleEndMs);
  }

  /**
   * Whether the peer ended or reset an idle connection while the call was on its way to it. To pay for an answer twice is worse than an
   * error, so a call is sent again only where hardly anybody can have worked on it: on a connection that had answered before, by a peer
   * that had said nothing yet, sooner than a model says anything. Once at most: what it goes out on then is new, and so has not answered
   * before.
   */
  #wasIdle({ isHeard }: Call): boolean {
    const isSoon = performance.now() - this.#sentAtMs < outgoingLimits.upstreamIdleResetMs;
    return this.#hasAnswered && !isHeard && isSoon;
  }

  /** The call goes once more, by a new connection. Its owner learns of that first, so that it has something left to do. */
  #passOn(call: Call): void {
    call.connection = undefined;
    this.#owner.onUnheard(call);
    this.cut();
  }
}
