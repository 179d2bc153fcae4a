import { isExactNumber } from "../lib/exact-json.ts";
import { indentedJson } from "../lib/indented-json.ts";

/**
 * A JSON value as rows of equal height. Children are created when their row is expanded, so a value of any size is
 * shown without delay; large values expand to ranges, and long text to lines. No function is recursive.
 */
export type JsonRow = {
  /** Unique within the tree. */
  id: string;
  depth: number;
  /** The path of the row in the value. */
  path: JsonPath;
  label: string | number | undefined;
  content: RowContent;
  isOpen: boolean;
};

export type JsonPath = ReadonlyArray<string | number>;

export type RowContent =
  | { kind: "value"; value: unknown }
  /** Members `from` up to `to` of a large list or object. */
  | { kind: "range"; value: object; keys: readonly string[] | undefined; from: number; to: number }
  /** A piece of an expanded text. */
  | { kind: "line"; text: string }
  /** The rest of a text, from this character on. */
  | { kind: "more"; text: string; from: number };

export type TreeOptions = {
  /** Characters per row of text. */
  lineChars: number;
};

const rangeSize = 500;
const linesAtOnce = 500;
const openedAtStart = 120;

/** The root, with enough levels expanded to fill a screen or two. */
export function startTree(value: unknown, options: TreeOptions): JsonRow[] {
  let rows: JsonRow[] = [
    { id: "$", depth: 0, path: [], label: undefined, content: { kind: "value", value }, isOpen: false },
  ];
  for (let at = 0; at < rows.length && rows.length < openedAtStart; at += 1) {
    const row = rows[at];
    if (row === undefined || row.depth > 2 || row.content.kind !== "value" || typeof row.content.value !== "object")
      continue;
    const size = sizeOf(row.content.value);
    if (size > 0 && rows.length + Math.min(size, rangeSize) <= (row.depth === 0 ? rangeSize : openedAtStart)) {
      rows = toggleRow(rows, at, options);
    }
  }
  return rows;
}

/** The rows after one of them is expanded or collapsed. */
export function toggleRow(rows: readonly JsonRow[], at: number, options: TreeOptions): JsonRow[] {
  const row = rows[at];
  if (row === undefined || !canOpen(row, options)) return [...rows];
  if (row.content.kind === "more") {
    return rows.slice(0, at).concat(linesOf(row, row.content.text, row.content.from, options), rows.slice(at + 1));
  }
  const changed = { ...row, isOpen: !row.isOpen };
  const end = row.isOpen ? endOf(rows, at) : at + 1;
  const children = row.isOpen ? [] : childrenOf(row, options);
  return rows.slice(0, at).concat([changed], children, rows.slice(end));
}

export function canOpen({ content }: JsonRow, { lineChars }: TreeOptions): boolean {
  if (content.kind === "range" || content.kind === "more") return true;
  if (content.kind === "line") return false;
  return typeof content.value === "string" ? isLong(content.value, lineChars) : sizeOf(content.value) > 0;
}

/** The row that contains this one; -1 for the root. */
export function parentOf(rows: readonly JsonRow[], at: number): number {
  const depth = rows[at]?.depth ?? 0;
  for (let before = at - 1; before >= 0; before -= 1) if ((rows[before]?.depth ?? 0) < depth) return before;
  return -1;
}

/** The number of members of a list or object, or of characters of a text; 0 for other values. */
export function sizeOf(value: unknown): number {
  if (typeof value !== "object" || value === null || isExactNumber(value)) return 0;
  return Array.isArray(value) ? value.length : Object.keys(value).length;
}

/** In code notation: `messages[0].content["a b"]`. */
export function pathText(path: JsonPath): string {
  const text = path.map((step) =>
    typeof step === "number" ? `[${step}]` : isName(step) ? `.${step}` : `[${JSON.stringify(step)}]`,
  );
  return text.join("").replace(/^\./, "") || "$";
}

/** The text that is copied for a value: a string itself, anything else as JSON. */
export function valueText(value: unknown): string {
  return typeof value === "string" ? value : indentedJson(value);
}

const isName = (key: string): boolean => /^[A-Za-z_$][\w$]*$/.test(key);

function endOf(rows: readonly JsonRow[], at: number): number {
  const depth = rows[at]?.depth ?? 0;
  let end = at + 1;
  while (end < rows.length && (rows[end]?.depth ?? 0) > depth) end += 1;
  return end;
}

function childrenOf(row: JsonRow, options: TreeOptions): JsonRow[] {
  const { content } = row;
  if (content.kind === "value" && typeof content.value === "string")
    return linesOf({ ...row, depth: row.depth + 1 }, content.value, 0, options);
  if (content.kind === "range") return membersOf(row, content);
  if (content.kind !== "value" || typeof content.value !== "object" || content.value === null) return [];
  const { value } = content;
  const keys = Array.isArray(value) ? undefined : Object.keys(value);
  const to = keys === undefined ? sizeOf(value) : keys.length;
  return membersOf(row, { kind: "range", value, keys, from: 0, to });
}

/** The members of a range, or the smaller ranges of a large one. */
function membersOf(row: JsonRow, { value, keys, from, to }: Extract<RowContent, { kind: "range" }>): JsonRow[] {
  const depth = row.depth + 1;
  let step = 1;
  while ((to - from) / step > rangeSize) step *= rangeSize;
  if (step > 1) {
    return Array.from({ length: Math.ceil((to - from) / step) }, (_value, at) => {
      const [start, end] = [from + at * step, Math.min(to, from + (at + 1) * step)];
      const content = { kind: "range" as const, value, keys, from: start, to: end };
      return { id: `${row.id}/${start}-${end}`, depth, path: row.path, label: undefined, content, isOpen: false };
    });
  }
  return Array.from({ length: to - from }, (_value, at) => {
    const label = keys === undefined ? from + at : (keys[from + at] ?? "");
    const member = (value as Record<string | number, unknown>)[label];
    return {
      id: `${row.id}/${JSON.stringify(label)}`,
      depth,
      path: [...row.path, label],
      label,
      content: { kind: "value", value: member },
      isOpen: false,
    };
  });
}

/** Pieces of a text from `start` on, split at line breaks and at the width; the last one is the rest. */
function linesOf(row: JsonRow, text: string, start: number, { lineChars }: TreeOptions): JsonRow[] {
  const rows: JsonRow[] = [];
  let from = start;
  while (from < text.length && rows.length < linesAtOnce) {
    const found = text.slice(from, from + lineChars + 1).indexOf("\n");
    const isBreak = found !== -1;
    const end = isBreak ? from + found : truncateAt(text, from + lineChars);
    rows.push(lineRow(row, from, { kind: "line", text: text.slice(from, end) }));
    from = isBreak ? end + 1 : end;
  }
  if (from < text.length) rows.push(lineRow(row, from, { kind: "more", text, from }));
  return rows;
}

const lineRow = ({ id, depth, path }: JsonRow, from: number, content: RowContent): JsonRow => ({
  id: `${id.replace(/:\d+$/, "")}:${from}`,
  depth,
  path,
  label: undefined,
  content,
  isOpen: false,
});

/** Never splits a surrogate pair. */
function truncateAt(text: string, at: number): number {
  const code = text.charCodeAt(at - 1);
  return code >= 0xd800 && code < 0xdc00 ? at + 1 : at;
}

function isLong(text: string, lineChars: number): boolean {
  return text.length > lineChars || text.includes("\n");
}
