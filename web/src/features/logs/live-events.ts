import type { LogRow } from "./row.ts";

/** An event of the live tail. */
export type LiveEvent =
  | { type: "span"; row: LogRow }
  /** Spans that the stream skipped; null if their number is unknown. */
  | { type: "skipped"; count: number | null };

/** Parses server-sent events from chunks of text. */
export function createEventReader(): { read: (piece: string) => LiveEvent[]; cursor: () => string | undefined } {
  let rest = "";
  let id: string | undefined;
  return {
    cursor: () => id,
    read: (piece) => {
      const blocks = (rest + piece).split(/\r?\n\r?\n/);
      rest = blocks.pop() ?? "";
      return blocks.flatMap((block) => {
        const fields = fieldsOf(block);
        id = fields.get("id") ?? id;
        return eventOf(fields.get("event") ?? "message", fields.get("data"));
      });
    },
  };
}

function fieldsOf(block: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (const line of block.split(/\r?\n/)) {
    const colon = line.indexOf(":");
    if (colon <= 0) continue;
    const name = line.slice(0, colon);
    const value = line.slice(colon + 1).replace(/^ /, "");
    fields.set(name, name === "data" && fields.has(name) ? `${fields.get(name)}\n${value}` : value);
  }
  return fields;
}

function eventOf(event: string, data: string | undefined): LiveEvent[] {
  const value = data === undefined ? undefined : parsed(data);
  if (typeof value !== "object" || value === null) return [];
  if (event === "skipped") {
    return [{ type: "skipped", count: "count" in value && typeof value.count === "number" ? value.count : null }];
  }
  return "unique_id" in value && typeof value.unique_id === "string" ? [{ type: "span", row: value as LogRow }] : [];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Merges rows, newest first: each span once in its newest version, at most `max`. */
export function withLiveRows(rows: readonly LogRow[], arrived: readonly LogRow[], max: number): LogRow[] {
  const newest = new Map<string, LogRow>();
  for (const row of [...arrived].reverse()) if (!newest.has(row.unique_id)) newest.set(row.unique_id, row);
  for (const row of rows) if (!newest.has(row.unique_id)) newest.set(row.unique_id, row);
  return [...newest.values()].slice(0, max);
}

/** The total of skipped spans; null once a number is unknown. */
export function addSkipped(sum: number | null, count: number | null): number | null {
  return sum === null || count === null ? null : sum + count;
}
