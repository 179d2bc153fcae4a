import { loopBusyShare } from "../../lib/loop-busy-share.ts";
import { limits } from "../../limits.ts";

/** Who rests between two reads. */
export type RoundReader = { goOn(): void };

/** What a connection needs of them. */
export type Rounds = Pick<ReadRounds, "rests" | "leave">;

/**
 * Answers that come in a trickle, as models speak, cost a wake-up, a read and a write for each word. While the event loop
 * is busy, those under way are therefore read in rounds: after a read the socket rests for a moment, so that the next
 * one finds a few words together. The round grows in steps until the loop has air, and shrinks to nothing when it has
 * plenty; whatever begins, or comes fast, is never held up.
 */
export class ReadRounds {
  readonly #busyShare: () => number;
  /** In the order in which they came to rest, with the time at which they go on. */
  readonly #resting = new Map<RoundReader, number>();
  #isTicking = false;
  #judgedAtMs = 0;
  /** Since it was judged last. */
  #reads = 0;
  /** How long a round is now; 0 when there are none. */
  roundMs = 0;

  /** @param busyShare of the time since it was asked last, the part in which the event loop had work, from 0 to 1 */
  constructor(busyShare: () => number = loopBusyShare()) {
    this.#busyShare = busyShare;
  }

  /**
   * Asked after each read of an answer under way: of how many bytes, after how long without any.
   * @returns whether it rests: then `goOn` is called when the round is over, unless it leaves before.
   */
  rests(reader: RoundReader, { bytes, quietMs, nowMs }: { bytes: number; quietMs: number; nowMs: number }): boolean {
    this.#reads += 1;
    if (nowMs - this.#judgedAtMs >= limits.readRoundJudgeMs) this.#judge(nowMs);
    if (this.roundMs === 0 || quietMs < limits.readRoundTrickleMs || bytes > limits.readRoundTrickleBytes) return false;
    this.#resting.set(reader, nowMs + this.roundMs);
    if (!this.#isTicking) setTimeout(this.#tick, limits.readRoundTickMs);
    this.#isTicking = true;
    return true;
  }

  leave(reader: RoundReader): void {
    this.#resting.delete(reader);
  }

  /**
   * A loop whose streams were all silent for long says nothing of what it is like now; one that is busy while few are read
   * is so with something else.
   */
  #judge(nowMs: number): void {
    const share = this.#busyShare();
    const passedMs = nowMs - this.#judgedAtMs;
    const readsPerS = (this.#reads * 1_000) / passedMs;
    this.#judgedAtMs = nowMs;
    this.#reads = 0;
    if (passedMs > limits.readRoundStaleMs) this.roundMs = 0;
    else if (share > limits.readRoundBusyShare && readsPerS > limits.readRoundReadsPerS)
      this.roundMs = Math.min(limits.readRoundMs, this.roundMs + limits.readRoundStepMs);
    else if (share < limits.readRoundCalmShare || readsPerS < limits.readRoundReadsPerS)
      this.roundMs = Math.max(0, this.roundMs - limits.readRoundStepMs);
  }

  /** A few at a time, so that what else waits for the loop gets its turn between them. */
  readonly #tick = (): void => {
    const nowMs = performance.now();
    let left = limits.readRoundReaders;
    for (const [reader, untilMs] of this.#resting) {
      if (untilMs > nowMs || (left -= 1) < 0) break;
      this.#resting.delete(reader);
      reader.goOn();
    }
    this.#isTicking = this.#resting.size > 0;
    if (this.#isTicking) setTimeout(this.#tick, limits.readRoundTickMs);
  };
}
