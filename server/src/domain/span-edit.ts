import { isObject, parseKeepingDigits } from "../lib/json.ts";

/** What people may change of a span that was sent, whoever sent it: docs/adr/0043-edits-lie-beside-the-spans.md. */
export const editFields = ["note", "is_pinned", "positive_feedback", "metadata"] as const;
export type EditField = (typeof editFields)[number];

/** One change. What is absent stays, null clears. `metadata` is merged key by key: null removes a key. */
export type SpanChange = {
  note?: string | null | undefined;
  is_pinned?: boolean | undefined;
  positive_feedback?: boolean | null | undefined;
  metadata?: Record<string, unknown> | undefined;
};

/** All that was changed of a span; what is absent is as it was sent. */
export type SpanEdits = {
  /** '' where it was cleared. */
  note?: string;
  is_pinned?: boolean;
  positive_feedback?: boolean | null;
  /** By key the JSON text of the value, '' where the key was removed. */
  metadata: ReadonlyMap<string, string>;
};

/** Metadata with the changes in it. Digits are kept. */
export function editedMetadata(
  metadata: Record<string, unknown>,
  changes: SpanEdits["metadata"],
): Record<string, unknown> {
  const members = new Map(Object.entries(metadata));
  for (const [key, value] of changes) {
    if (value === "") members.delete(key);
    else members.set(key, parseKeepingDigits(value));
  }
  // Unlike assignments this makes a member of `__proto__` too.
  return Object.fromEntries(members);
}

/** The same for JSON text; '' is no metadata. */
export function editedMetadataText(text: string, changes: SpanEdits["metadata"]): string {
  if (changes.size === 0) return text;
  const metadata = text === "" ? {} : parseKeepingDigits(text);
  return JSON.stringify(editedMetadata(isObject(metadata) ? metadata : {}, changes));
}
