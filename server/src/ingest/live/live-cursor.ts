import type { ReceivedPlace } from "../../storage/spans/received-spans.ts";

/**
 * The id of an event: a place in the order of receipt, and the number of spans of the stream accounted for up to it
 * (`DeliveredSpans.total`). From that, a resumed stream computes whether spans before the place were stored since.
 */
export type LiveCursor = ReceivedPlace & {
  /** `stream` identifies the filter that was counted. Absent if nothing was counted yet. */
  check?: { total: number; stream: string };
};

const pattern = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d\.\d{9})Z_([0-9a-f-]{36})(?:_(\d{1,15})_([0-9a-f]{8}))?$/;

export function writeLiveCursor({ received_at, unique_id, check }: LiveCursor): string {
  const place = `${received_at.replace(" ", "T")}Z_${unique_id}`;
  return check === undefined ? place : `${place}_${check.total}_${check.stream}`;
}

/** Undefined if the text is not a cursor. */
export function readLiveCursor(text: string): LiveCursor | undefined {
  const [, day, time, unique_id, total, stream] = pattern.exec(text) ?? [];
  if (day === undefined || time === undefined || unique_id === undefined) return undefined;
  const ms = Date.parse(`${day}T${time}Z`);
  // Date.parse accepts days that a month does not have, as days of the next one.
  if (Number.isNaN(ms) || !new Date(ms).toISOString().startsWith(day)) return undefined;
  const check = total === undefined || stream === undefined ? {} : { check: { total: Number(total), stream } };
  return { received_at: `${day} ${time}`, unique_id, ...check };
}

const noId = "00000000-0000-0000-0000-000000000000";

/** The place before everything received in this millisecond since the epoch. */
export function livePlaceAt(ms: number): ReceivedPlace {
  return { received_at: `${new Date(ms).toISOString().slice(0, -1).replace("T", " ")}000000`, unique_id: noId };
}

export function isBehind(place: ReceivedPlace, other: ReceivedPlace): boolean {
  return place.received_at === other.received_at
    ? place.unique_id > other.unique_id
    : place.received_at > other.received_at;
}

/** The second of a stored time, since the epoch. */
export function secondOf(receivedAt: string): number {
  return Date.parse(`${receivedAt.slice(0, 10)}T${receivedAt.slice(11, 19)}Z`) / 1000;
}
