import { FairShare, type SharedLimit } from "../lib/fair-share.ts";
import { httpLimits } from "./limits.ts";

/**
 * Bounds the total bytes of request bodies in memory, and divides them fairly.
 *
 * - A party (an organization) gets at most its share (`FairShare`), so there is always room for another one.
 * - A part is reserved for small bodies, so that a few large uploads never block gateway calls.
 * - While more than `httpLimits.bodyBytesCalm` of the total is in use, slow uploads are ended.
 */
export class BodyMemory {
  readonly #maxBytes: number;
  readonly #share: FairShare;
  readonly #reading = new Set<BodyReservation>();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#share = new FairShare(maxBytes);
  }

  get limit(): SharedLimit {
    return this.#share;
  }

  get reservedBytes(): number {
    return this.#share.inUse;
  }

  reserve(party: string): BodyReservation {
    return new BodyReservation(this, party);
  }

  /** For `BodyReservation`. Returns false, and takes nothing, if the bytes do not fit. */
  take(party: string, bytes: number, isSmall: boolean): boolean {
    return this.#share.tryAcquire(
      party,
      bytes,
      isSmall ? undefined : this.#maxBytes * (1 - httpLimits.smallBodiesShare),
    );
  }

  /** For `BodyReservation`. */
  release(party: string, bytes: number): void {
    this.#share.release(party, bytes);
  }

  /** For `BodyReservation`: uploads in progress. */
  get reading(): Set<BodyReservation> {
    return this.#reading;
  }

  /** While memory is short, ends uploads that delivered less than `minBytes` since the last sweep. Returns how many. */
  endSlowUploads(minBytes: number): number {
    const isShort = this.reservedBytes > this.#maxBytes * httpLimits.bodyBytesCalm;
    let ended = 0;
    for (const reserve of this.#reading) if (reserve.isSlow(minBytes) && isShort && reserve.end()) ended += 1;
    return ended;
  }
}

/**
 * The bytes of one request. They are returned once, however often `release` is called; after that, `take` returns
 * false.
 */
export class BodyReservation {
  readonly #memory: BodyMemory;
  readonly #party: string;
  #bytes = 0;
  #isReleased = false;
  #seenBytes = 0;
  #hasBeenSwept = false;
  #onSlow: (() => void) | undefined;

  constructor(memory: BodyMemory, party: string) {
    this.#memory = memory;
    this.#party = party;
  }

  /** Returns false, and takes nothing, if the bytes do not fit or the hold was released. */
  take(bytes: number): boolean {
    if (this.#isReleased) return false;
    const isSmall = this.#bytes + bytes <= httpLimits.smallBodyBytes;
    if (!this.#memory.take(this.#party, bytes, isSmall)) return false;
    this.#bytes += bytes;
    return true;
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#memory.reading.delete(this);
    if (this.#bytes > 0) this.#memory.release(this.#party, this.#bytes);
  }

  /** Marks the start of an upload. @param onSlow ends the upload */
  startReading(onSlow: () => void): void {
    this.#onSlow = onSlow;
    this.#memory.reading.add(this);
  }

  stopReading(): void {
    this.#memory.reading.delete(this);
  }

  /**
   * Whether less than `minBytes` arrived since the previous call. False on the first call: an upload is slow only after
   * a whole interval.
   */
  isSlow(minBytes: number): boolean {
    const isSlow = this.#hasBeenSwept && this.#bytes - this.#seenBytes < minBytes;
    this.#hasBeenSwept = true;
    this.#seenBytes = this.#bytes;
    return isSlow;
  }

  /** Ends the upload. Returns whether one was in progress. */
  end(): boolean {
    if (!this.#memory.reading.delete(this)) return false;
    this.#onSlow?.();
    return true;
  }
}
