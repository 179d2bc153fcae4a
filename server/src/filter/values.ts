import { cleanText, isRawNumber } from "../lib/json.ts";
import { parseTimeNs, storedTime } from "../lib/time.ts";
import type { FilterValue } from "./ast.ts";
import type { FieldKind } from "./catalogue.ts";

const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** Converts a value as sent to the field's kind; undefined if it cannot be converted. */
export function readValue(kind: FieldKind, raw: unknown): FilterValue | undefined {
  return readers[kind](raw);
}

const readers: Record<FieldKind, (raw: unknown) => FilterValue | undefined> = {
  text: readText,
  uuid: readText,
  dynamic: readText,
  number: readNumber,
  boolean: readBoolean,
  time: readTime,
};

export const kindNames: Record<FieldKind, string> = {
  text: "text",
  uuid: "text",
  dynamic: "text, a number or a boolean",
  number: "a number",
  boolean: "true or false",
  time: "an ISO 8601 date-time or an epoch number",
};

/** The text of a scalar; for a number, its JSON digits. Undefined for null, arrays and objects. */
export function scalarText(raw: unknown): string | undefined {
  if (typeof raw === "string") return raw;
  if (typeof raw === "number") return Number.isFinite(raw) ? JSON.stringify(raw) : undefined;
  if (typeof raw === "boolean") return String(raw);
  return isRawNumber(raw) ? raw.rawJSON : undefined;
}

// Stored text is always clean, so a needle is cleaned in the same way.
function readText(raw: unknown): string | undefined {
  const text = scalarText(raw);
  return text === undefined ? undefined : cleanText(text);
}

function readNumber(raw: unknown): number | undefined {
  if (typeof raw === "boolean") return undefined;
  const text = scalarText(raw)?.trim();
  if (text === undefined || !decimal.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}

export function readBoolean(raw: unknown): boolean | undefined {
  const text = scalarText(raw)?.trim().toLowerCase();
  if (text === "true" || text === "1") return true;
  return text === "false" || text === "0" ? false : undefined;
}

function readTime(raw: unknown): string | undefined {
  if (typeof raw === "boolean") return undefined;
  const text = scalarText(raw);
  const ns = text === undefined ? undefined : parseTimeNs(text);
  return ns === undefined ? undefined : storedTime(ns);
}
