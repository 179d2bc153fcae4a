import type { SpanKey, SpanSelection } from "./span-store.ts";

/** A position in the order of receipt: `received_at` as stored, then the text of the id. */
export type ReceivedPlace = { received_at: string; unique_id: string };

export type ReceivedKey = SpanKey & ReceivedPlace;

/** Spans after the position `after`. */
export type ReceivedSpansQuery = SpanSelection & { after: ReceivedPlace };

export type ReceivedSpans = { keys: ReceivedKey[]; count: number };

/** The number of spans received in each second, by seconds since 1970. Seconds without spans are absent. */
export type ReceivedCounts = ReadonlyMap<number, number>;

export type ReceivedReads = {
  /**
   * The newest `limit` spans after a position, in the order of receipt; `count` is the number of all spans after it.
   */
  listReceived(query: ReceivedSpansQuery & { limit: number }, signal?: AbortSignal): Promise<ReceivedSpans>;

  /** The number of spans that were received after `after`, up to and including `until`. */
  countReceived(query: ReceivedSpansQuery & { until: ReceivedPlace }, signal?: AbortSignal): Promise<ReceivedCounts>;
};
