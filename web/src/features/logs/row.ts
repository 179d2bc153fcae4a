import { visibleLine } from "../../lib/visible-text.ts";

/** A row of the list of spans, with the requested members. */
export type LogRow = Readonly<Record<string, unknown>> & { unique_id: string };

/** Rows of the API have all requested members, although the schema makes them optional. */
export function asRows(results: readonly unknown[]): LogRow[] {
  return results as LogRow[];
}

export function textIn(row: LogRow, member: string): string {
  const value = row[member];
  return typeof value === "string" ? value : "";
}

export function numberIn(row: LogRow, member: string): number | null {
  const value = row[member];
  return typeof value === "number" ? value : null;
}

export function isFailed(row: LogRow): boolean {
  return row["failed"] === true;
}

const shownChars = 300;
const titleChars = 2000;

/** One line of any value, truncated beyond what a cell can show. */
export function cellText(value: unknown): string {
  return visibleLine(shortText(value, shownChars));
}

/** The same for a tooltip, which shows more of it. */
export function titleText(value: unknown): string {
  return visibleLine(shortText(value, titleChars));
}

function shortText(value: unknown, chars: number): string {
  const text = typeof value === "string" ? value : value === null || value === undefined ? "" : JSON.stringify(value);
  return text.length > chars ? `${text.slice(0, chars)}…` : text;
}

/** The value of a metadata key: the key itself, otherwise the path whose parts `__` separates. */
export function metadataIn(row: LogRow, key: string): unknown {
  const { metadata } = row;
  if (!isObject(metadata)) return undefined;
  if (Object.hasOwn(metadata, key)) return metadata[key];
  let value: unknown = metadata;
  for (const part of key.split("__")) {
    if (!isObject(value) || !Object.hasOwn(value, part)) return undefined;
    value = value[part];
  }
  return value;
}

/** The value of an evaluator's score, by slug or id. */
export function scoreIn(row: LogRow, evaluator: string): unknown {
  const { scores } = row;
  if (!isObject(scores)) return undefined;
  const found = Object.entries(scores).find(
    ([id, score]) => id === evaluator || (isObject(score) && score["evaluator_slug"] === evaluator),
  )?.[1];
  if (!isObject(found)) return found;
  const names = [
    "numerical_value",
    "boolean_value",
    "string_value",
    "categorical_value",
    "primary_score",
    "json_value",
  ];
  return names.map((name) => found[name]).find((value) => value !== null && value !== undefined);
}

/** The last message of a payload in one line; a payload without messages is shown as a value. */
export function payloadText(value: unknown): string {
  const parsed = typeof value === "string" && /^[[{]/.test(value) ? parsedJson(value) : value;
  const last = Array.isArray(parsed) ? (parsed.at(-1) as unknown) : parsed;
  const content = isObject(last) && "content" in last ? last["content"] : last;
  const texts = Array.isArray(content)
    ? content.flatMap((part: unknown) => (isObject(part) && typeof part["text"] === "string" ? [part["text"]] : []))
    : [];
  return cellText(texts.length > 0 ? texts.join(" ") : (content ?? value));
}

const parsedChars = 20_000;

/** A long text is not parsed just to show one line of it. */
function parsedJson(text: string): unknown {
  if (text.length > parsedChars) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
