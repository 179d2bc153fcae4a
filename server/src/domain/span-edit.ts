import { isObject, parseKeepingDigits } from "../lib/json.ts";

/** The fields of a sent span that people may change: docs/adr/0043-edits-are-stored-beside-the-spans.md. */
export const editFields = ["note", "is_pinned", "positive_feedback", "metadata"] as const;
export type EditField = (typeof editFields)[number];

/** One change. Absent members stay, null clears. `metadata` is merged key by key: null removes a key. */
export type SpanChange = {
  note?: string | null | undefined;
  is_pinned?: boolean | undefined;
  positive_feedback?: boolean | null | undefined;
  metadata?: Record<string, unknown> | undefined;
};

/** All changes of a span; absent members are as sent. */
export type SpanEdits = {
  /** '' if it was cleared. */
  note?: string;
  is_pinned?: boolean;
  positive_feedback?: boolean | null;
  /** JSON text of the value by key, '' if the key was removed. */
  metadata: ReadonlyMap<string, string>;
};

/** Applies the changes to metadata. Long numbers keep their digits. */
export function editedMetadata(
  metadata: Record<string, unknown>,
  changes: SpanEdits["metadata"],
): Record<string, unknown> {
  const members = new Map(Object.entries(metadata));
  for (const [key, value] of changes) {
    if (value === "") members.delete(key);
    else members.set(key, parseKeepingDigits(value));
  }
  // Unlike assignment, this also creates a member named `__proto__`.
  return Object.fromEntries(members);
}

/** The same for JSON text; '' is no metadata. */
export function editedMetadataText(text: string, changes: SpanEdits["metadata"]): string {
  if (changes.size === 0) return text;
  const metadata = text === "" ? {} : parseKeepingDigits(text);
  return JSON.stringify(editedMetadata(isObject(metadata) ? metadata : {}, changes));
}
