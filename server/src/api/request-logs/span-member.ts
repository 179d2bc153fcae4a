import type { ReadColumn, SpanColumn, SpanExtra } from "../../domain/span.ts";
import { toByteString } from "../../lib/byte-string.ts";
import { isObject, parseJsonText } from "../../lib/json.ts";
import { isoTime } from "../../lib/time.ts";
import { rawPlace, rawReader, type RawSpan } from "../../storage/spans/raw-span.ts";
import type { StoredSpan } from "../../storage/spans/span-store.ts";
import { textOf } from "./span-messages.ts";

/** A span with additions that are not in its row, as JSON text: see attach-scores.ts and attach-new-messages.ts. */
export type ScoredStoredSpan = StoredSpan & { scores?: string; new_messages?: string; resent_message_count?: string };

/**
 * A member of a span in responses: how it is computed from stored columns, as JSON text.
 *
 * `lists`: whether list rows have the member too; retrieve has all of them. `raw` computes the same from a raw span, as
 * a byte string, if that needs no parsing; it gets the position of each column.
 */
export type SpanMember = {
  columns: readonly ReadColumn[];
  json: (span: ScoredStoredSpan) => string;
  lists: boolean;
  raw?: (placeOf: (column: ReadColumn) => number) => RawWriter;
};

export type RawWriter = (span: RawSpan) => string;

/** Returns a function that writes the member for spans that were read with `columns`. */
export function rawWriter({ columns: own, json: write, raw }: SpanMember, columns: readonly ReadColumn[]): RawWriter {
  if (raw !== undefined) return raw((column) => rawPlace(columns, column));
  const read = rawReader(columns, own);
  return (span) => toByteString(write(read(span)));
}

const nullJson = "null";
const noText = '""';
const quote = 0x22;

const orNull = (value: string): string => (value === "" ? nullJson : JSON.stringify(value));

/** Text; null if absent. */
export const text = (column: ReadColumn, lists = true): SpanMember => ({
  ...firstText([column]),
  json: (span) => orNull(textOf(span, column)),
  lists,
});

/** Numbers and booleans. Integers beyond 2^53 keep their digits. */
export const scalar = (column: ReadColumn, lists = true): SpanMember => ({
  columns: [column],
  json: (span) => {
    const value = span[column];
    return typeof value === "string" ? value : (JSON.stringify(value) ?? nullJson);
  },
  lists,
  raw: (placeOf) => {
    const place = placeOf(column);
    return (span) => unquoted(span[place] ?? nullJson);
  },
});

/** A stored JSON document. */
export const json = (column: ReadColumn, { absent = nullJson, lists = true } = {}): SpanMember => ({
  columns: [column],
  json: (span) => textOf(span, column) || absent,
  lists,
  raw: (placeOf) => {
    const place = placeOf(column);
    return (span) => documentOf(span[place] ?? noText) || absent;
  },
});

/** ISO 8601 in UTC, with all fraction digits of the instant, but at least milliseconds. */
export const time = (column: ReadColumn): SpanMember => ({
  columns: [column],
  json: (span) => JSON.stringify(isoTime(textOf(span, column))),
  lists: true,
  raw: (placeOf) => {
    const place = placeOf(column);
    return (span) => `"${isoTime(unquoted(span[place] ?? noText))}"`;
  },
});

export const constant = (value: string, lists = true): SpanMember => ({ columns: [], json: () => value, lists });

/** `input` and `output` are text: as sent, or else the JSON text of the documents that replace them. */
export const mirrored = (column: "input" | "output", ...documents: SpanColumn[]): SpanMember => ({
  ...firstText([column, ...documents]),
  json: (span) => {
    const stored = textOf(span, column);
    if (stored !== "") return JSON.stringify(stored);
    return orNull(documents.map((document) => textOf(span, document)).find((document) => document !== "") ?? "");
  },
  lists: true,
});

/** A member that is stored in the column `extra`. */
export const extra = (field: SpanExtra, absent: unknown = null): SpanMember => ({
  columns: ["extra"],
  json: (span) => {
    const stored = textOf(span, "extra");
    return JSON.stringify((stored === "" ? undefined : extrasOf(span, stored)[field]) ?? absent);
  },
  lists: false,
});

const parsedExtras = new WeakMap<StoredSpan, Record<string, unknown>>();

// Cached: some thirty members read the same small document.
function extrasOf(span: StoredSpan, stored: string): Record<string, unknown> {
  const known = parsedExtras.get(span);
  if (known) return known;
  const parsed = parseJsonText(stored);
  const extras = parsed.ok && isObject(parsed.value) ? parsed.value : {};
  parsedExtras.set(span, extras);
  return extras;
}

/** The first non-empty of some text columns, as the engine wrote it. */
function firstText(columns: readonly ReadColumn[]): Required<Pick<SpanMember, "columns" | "raw">> {
  return {
    columns,
    raw: (placeOf) => {
      const places = columns.map(placeOf);
      return (span) => {
        for (const place of places) {
          const value = span[place];
          if (value !== undefined && value !== noText) return value;
        }
        return nullJson;
      };
    },
  };
}

/** For a value without escapes. */
function unquoted(value: string): string {
  return value.charCodeAt(0) === quote ? value.slice(1, -1) : value;
}

/**
 * The document in a JSON text. The two characters that the engine writes as escapes stay escaped: they are in its
 * strings.
 */
function documentOf(value: string): string {
  if (!value.includes("\\")) return unquoted(value);
  const document = JSON.parse(value) as string;
  return beyondBytes.test(document) ? document.replace(lineBreaks, escaped) : document;
}

const beyondBytes = /[^\0-\xff]/;
const lineBreaks = /[\u2028\u2029]/g;
const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16)}`;
