import { ingestLimits } from "../limits.ts";
import type { ReceivedCounts, ReceivedKey, ReceivedPlace } from "../../storage/spans/received-spans.ts";
import { isBehind, secondOf } from "./live-cursor.ts";

/**
 * The spans that a feed has accounted for: a count per second of receipt, and the keys of the latest ones. If the store
 * has more spans of a second, some were stored late.
 */
export class DeliveredSpans {
  /** Second of receipt by key, in the order in which they were taken. */
  readonly #recent = new Map<string, number>();
  readonly #counts = new Map<number, number>();
  #knownFrom = 0;
  #lastPlace: ReceivedPlace | undefined;

  /** From this second on, every span that was taken is known by its key. */
  get knownFrom(): number {
    return this.#knownFrom;
  }

  /** The last in the order of receipt. */
  get lastPlace(): ReceivedPlace | undefined {
    return this.#lastPlace;
  }

  /** Accounts for the keys that are new, and returns them. @param keys in the order of receipt */
  take(keys: readonly ReceivedKey[]): ReceivedKey[] {
    const fresh = keys.filter((key) => !this.#recent.has(versionKey(key)));
    for (const key of fresh) {
      const second = secondOf(key.received_at);
      this.#recent.set(versionKey(key), second);
      this.#counts.set(second, (this.#counts.get(second) ?? 0) + 1);
      if (this.#lastPlace === undefined || isBehind(key, this.#lastPlace)) this.#lastPlace = key;
    }
    for (const [key, second] of this.#recent) {
      if (this.#recent.size <= ingestLimits.liveKeys) break;
      this.#recent.delete(key);
      this.evictBefore(second + 1);
    }
    return fresh;
  }

  evictBefore(second: number): void {
    this.#knownFrom = Math.max(this.#knownFrom, second);
  }

  /** The number of spans accounted for that were received from this second on. */
  total(since: number): number {
    let total = 0;
    for (const [second, count] of this.#counts) if (second >= since) total += count;
    return total;
  }

  /**
   * The first second, among those whose spans are known by key, of which the store has more spans. @param counts of
   * whole seconds
   */
  lateFrom(counts: ReceivedCounts): number | undefined {
    let first: number | undefined;
    for (const [second, count] of counts) {
      if (second < this.#knownFrom || count <= (this.#counts.get(second) ?? 0)) continue;
      if (first === undefined || second < first) first = second;
    }
    return first;
  }

  /**
   * Sets the counts of the seconds before `until` to those of the store. Returns how many spans that adds to seconds
   * before `listedFrom`.
   */
  settle(counts: ReceivedCounts, { until, listedFrom }: { until: number; listedFrom: number }): number {
    let added = 0;
    for (const second of this.#counts.keys()) {
      if (second < until && !counts.has(second)) this.#counts.delete(second);
    }
    for (const [second, count] of counts) {
      if (second < listedFrom) added += Math.max(0, count - (this.#counts.get(second) ?? 0));
      this.#counts.set(second, count);
    }
    return added;
  }
}

/** A resent span has another version. */
export const versionKey = ({ unique_id, environment, version }: ReceivedKey): string =>
  `${unique_id} ${environment} ${version}`;
