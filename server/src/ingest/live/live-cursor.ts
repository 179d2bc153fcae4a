import type { ReceivedPlace } from "../../storage/spans/received-spans.ts";

const pattern = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d\.\d{9})Z_([0-9a-f-]{36})$/;

/** The id of an event: a place in the order of receipt, as text that sorts like it. */
export function writeLiveCursor({ received_at, unique_id }: ReceivedPlace): string {
  return `${received_at.replace(" ", "T")}Z_${unique_id}`;
}

/** Undefined where it is none. */
export function readLiveCursor(text: string): ReceivedPlace | undefined {
  const [, day, time, id] = pattern.exec(text) ?? [];
  if (day === undefined || id === undefined || Number.isNaN(Date.parse(`${day}T${time}Z`))) return undefined;
  return { received_at: `${day} ${time}`, unique_id: id };
}

const noId = "00000000-0000-0000-0000-000000000000";

/** The place before all that was received in this millisecond since the epoch. */
export function livePlaceAt(ms: number): ReceivedPlace {
  return { received_at: `${new Date(ms).toISOString().slice(0, -1).replace("T", " ")}000000`, unique_id: noId };
}
