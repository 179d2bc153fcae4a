import { FairShare } from "../lib/fair-share.ts";
import { httpLimits } from "./limits.ts";

/**
 * Bounds the bytes of all request bodies that are in memory at one time, and divides them fairly.
 *
 * - A party (an organization) gets at most its share (`FairShare`). So there is always room for one more.
 * - A part is reserved for small bodies, so that a few large uploads never cost gateway calls their place.
 * - While more than `httpLimits.bodyBytesCalm` of the whole is in use, uploads that arrive too slowly are ended.
 */
export class BodyMemory {
  readonly #maxBytes: number;
  readonly #share: FairShare;
  readonly #reading = new Set<BodyHold>();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#share = new FairShare(maxBytes);
  }

  get heldBytes(): number {
    return this.#share.held;
  }

  hold(party: string): BodyHold {
    return new BodyHold(this, party);
  }

  /** For `BodyHold`. False, and nothing taken, when the bytes do not fit. */
  take(party: string, bytes: number, isSmall: boolean): boolean {
    return this.#share.take(party, bytes, isSmall ? undefined : this.#maxBytes * (1 - httpLimits.smallBodiesShare));
  }

  /** For `BodyHold`. */
  giveBack(party: string, bytes: number): void {
    this.#share.giveBack(party, bytes);
  }

  /** For `BodyHold`: uploads that are under way. */
  get reading(): Set<BodyHold> {
    return this.#reading;
  }

  /** Ends uploads that brought less than `minBytes` since the last sweep, while memory is short. Returns how many. */
  endSlowUploads(minBytes: number): number {
    const isShort = this.heldBytes > this.#maxBytes * httpLimits.bodyBytesCalm;
    let ended = 0;
    for (const hold of this.#reading) if (hold.isSlow(minBytes) && isShort && hold.end()) ended += 1;
    return ended;
  }
}

/** The bytes of one request. They are given back once, however often `release` is called, and none are taken after it. */
export class BodyHold {
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

  /** False, and nothing taken, when the bytes do not fit, or the request is over. */
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
    if (this.#bytes > 0) this.#memory.giveBack(this.#party, this.#bytes);
  }

  /** An upload begins. @param onSlow ends it */
  startReading(onSlow: () => void): void {
    this.#onSlow = onSlow;
    this.#memory.reading.add(this);
  }

  stopReading(): void {
    this.#memory.reading.delete(this);
  }

  /** Whether less than `minBytes` came since it was last asked. An upload is slow only after a whole interval. */
  isSlow(minBytes: number): boolean {
    const isSlow = this.#hasBeenSwept && this.#bytes - this.#seenBytes < minBytes;
    this.#hasBeenSwept = true;
    this.#seenBytes = this.#bytes;
    return isSlow;
  }

  /** Whether it was under way. */
  end(): boolean {
    if (!this.#memory.reading.delete(this)) return false;
    this.#onSlow?.();
    return true;
  }
}
