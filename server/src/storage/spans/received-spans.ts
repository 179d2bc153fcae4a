import type { SpanKey, SpanSelection } from "./span-store.ts";

/** A place in the order of receipt: `received_at` as stored, then the text of the id. */
export type ReceivedPlace = { received_at: string; unique_id: string };

export type ReceivedKey = SpanKey & ReceivedPlace;

export type ReceivedSpansQuery = SpanSelection & { after: ReceivedPlace; limit: number };

export type ReceivedSpans = { keys: ReceivedKey[]; count: number };
