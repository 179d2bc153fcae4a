import type { Socket } from "node:net";
import { limits } from "../../limits.ts";
import { AnswerParser, closedEarly } from "./answer-parser.ts";
import type { Call } from "./call.ts";
import type { RoundReader, Rounds } from "./read-rounds.ts";

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
export class Connection implements RoundReader {
  readonly #socket: Socket;
  readonly #owner: ConnectionOwner;
  readonly #rounds: Rounds;
  #call: Call | undefined;
  #parser: AnswerParser | undefined;
  #hasAnswered = false;
  #sentAtMs = 0;
  /** Until an end of the connection is too late to be that of an idle one. */
  #soon: NodeJS.Timeout | undefined;
  #isLate = false;
  /** Of an answer that is read in rounds: when it was read last. */
  #readAtMs = Infinity;
  /** Whether it is not read for the rest of a round, or of a turn. */
  #isHeld = false;
  /** What ends that of a turn. */
  #nextTurn: NodeJS.Immediate | undefined;
  /** What was read since the round was over, where TLS gives it record by record: it is gone through at the end of the turn. */
  #records: Buffer[] | undefined;
  #isGone = false;

  constructor(socket: Socket, owner: ConnectionOwner, rounds: Rounds) {
    this.#socket = socket;
    this.#owner = owner;
    this.#rounds = rounds;
    socket
      .on("data", (bytes: Buffer) => this.#onData(bytes))
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
    this.#readAtMs = Infinity;
    call.connection = this;
    if (call.isPaused) this.#socket.pause();
    this.#write(call.pieces);
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    if (!this.#isHeld) this.#socket.resume();
  }

  /** The round is over. */
  goOn(): void {
    this.#isHeld = false;
    if (this.#call?.isInRounds === true && "encrypted" in this.#socket) this.#records = [];
    if (this.#call?.isPaused !== true) this.#socket.resume();
  }

  /** Whatever the round is, it is read from now on. */
  hurry(): void {
    if (!this.#isHeld) return;
    this.#endHold();
    this.goOn();
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
    this.#records = undefined;
    if (this.#isHeld) this.#endHold();
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

  #onData(bytes: Buffer): void {
    if (this.#records === undefined) return this.#read(bytes);
    if (this.#records.push(bytes) === 1) setImmediate(() => this.#readRecords());
    return undefined;
  }

  #readRecords(): void {
    const records = this.#records;
    this.#records = undefined;
    if (records !== undefined && records.length > 0) this.#read(Buffer.concat(records));
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
      else {
        if (call.isInRounds) this.#rest(bytes.length);
        if (bytes.length >= limits.upstreamTurnBytes) this.#restOfTurn();
      }
    } catch (error) {
      this.fail(error);
    }
    return undefined;
  }

  /** More may come of a socket that rests, where TLS had it already. */
  #rest(bytes: number): void {
    const nowMs = performance.now();
    const quietMs = nowMs - this.#readAtMs;
    this.#readAtMs = nowMs;
    if (this.#isHeld || !this.#rounds.rests(this, { bytes, quietMs, nowMs })) return;
    this.#isHeld = true;
    this.#socket.pause();
  }

  /** All of the exchange: a connection that rests would keep alive whatever the call holds on to, the parser's sink. */
  #letGo(): void {
    clearTimeout(this.#soon);
    this.#call = undefined;
    this.#parser = undefined;
  }

  /** More may have come already, which would be read before all else: how long that takes is up to who sends it. */
  #restOfTurn(): void {
    if (this.#isHeld) return;
    this.#isHeld = true;
    this.#socket.pause();
    this.#nextTurn = setImmediate(() => {
      this.#isHeld = false;
      if (this.#call?.isPaused !== true) this.#socket.resume();
    });
  }

  #endHold(): void {
    this.#rounds.leave(this);
    clearImmediate(this.#nextTurn);
  }

  /** The peer sends no more, which ends an answer or leaves it incomplete. */
  #finish(): void {
    this.#readRecords();
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
    this.hurry();
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
    this.#soon = setTimeout(() => setImmediate(late), limits.upstreamIdleEndMs);
  }

  /**
   * Whether the peer ended or reset an idle connection while the call was on its way to it. To pay for an answer twice is worse than an
   * error, so a call is sent again only where hardly anybody can have worked on it: on a connection that had answered before, by a peer
   * that had said nothing yet, sooner than a model says anything. Once at most: what it goes out on then is new, and so has not answered
   * before.
   */
  #wasIdle({ isHeard }: Call): boolean {
    const isSoon = performance.now() - this.#sentAtMs < limits.upstreamIdleResetMs;
    return this.#hasAnswered && !isHeard && isSoon;
  }

  /** The call goes once more, by a new connection. Its owner learns of that first, so that it has something left to do. */
  #passOn(call: Call): void {
    call.connection = undefined;
    this.#owner.onUnheard(call);
    this.cut();
  }
}
