import type { SpanKey, SpanSelection } from "./span-store.ts";

/** A place in the order of receipt: `received_at` as stored, then the text of the id. */
export type ReceivedPlace = { received_at: string; unique_id: string };

export type ReceivedKey = SpanKey & ReceivedPlace;

/** Spans behind the place `after`. */
export type ReceivedSpansQuery = SpanSelection & { after: ReceivedPlace };

export type ReceivedSpans = { keys: ReceivedKey[]; count: number };

/** Spans of each second of receipt, in seconds since the epoch. Seconds without any are absent. */
export type ReceivedCounts = ReadonlyMap<number, number>;

export type ReceivedReads = {
  /** The newest `limit` spans that were received behind a place, in the order of receipt; `count` says how many there are. */
  listReceived(query: ReceivedSpansQuery & { limit: number }, signal?: AbortSignal): Promise<ReceivedSpans>;

  /** How many spans were received behind the place `after`, and not behind `until`. */
  countReceived(query: ReceivedSpansQuery & { until: ReceivedPlace }, signal?: AbortSignal): Promise<ReceivedCounts>;
};
