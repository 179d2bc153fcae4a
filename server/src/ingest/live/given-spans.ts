import { ingestLimits } from "../limits.ts";
import type { ReceivedCounts, ReceivedKey, ReceivedPlace } from "../../storage/spans/received-spans.ts";
import { isBehind, secondOf } from "./live-cursor.ts";

/**
 * What a feed has accounted for: how many spans of each second of receipt, and the latest ones by their keys. Spans that are
 * stored late show as a second of which the store has more.
 */
export class GivenSpans {
  /** By key, the second of receipt, in the order in which they were taken. */
  readonly #recent = new Map<string, number>();
  readonly #counts = new Map<number, number>();
  #knownFrom = 0;
  #lastPlace: ReceivedPlace | undefined;

  /** Of the seconds from here on, each span that was taken is known by its key. */
  get knownFrom(): number {
    return this.#knownFrom;
  }

  /** The last in the order of receipt. */
  get lastPlace(): ReceivedPlace | undefined {
    return this.#lastPlace;
  }

  /** The keys that it did not know, which are accounted for from now on. @param keys in the order of receipt */
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
      this.forgetBefore(second + 1);
    }
    return fresh;
  }

  forgetBefore(second: number): void {
    this.#knownFrom = Math.max(this.#knownFrom, second);
  }

  /** How many are accounted for that were received from this second on. */
  total(since: number): number {
    let total = 0;
    for (const [second, count] of this.#counts) if (second >= since) total += count;
    return total;
  }

  /** The first second whose spans are known by key of which the store has more. @param counts of whole seconds */
  lateFrom(counts: ReceivedCounts): number | undefined {
    let first: number | undefined;
    for (const [second, count] of counts) {
      if (second < this.#knownFrom || count <= (this.#counts.get(second) ?? 0)) continue;
      if (first === undefined || second < first) first = second;
    }
    return first;
  }

  /** Accounts for what the store has of the seconds before `until`. Says how many spans that adds to seconds before `listedFrom`. */
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

/** A span that was sent again has another version. */
export const versionKey = ({ unique_id, environment, version }: ReceivedKey): string =>
  `${unique_id} ${environment} ${version}`;
