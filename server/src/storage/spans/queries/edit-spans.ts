import { randomUUID } from "node:crypto";
import { ServiceError } from "../../../domain/errors.ts";
import type { EditField, SpanChange } from "../../../domain/span-edit.ts";
import type { SpanDatabase } from "../drivers/span-database.ts";
import type { NewEdit } from "../span-editing.ts";
import { allOf, scopeWhere } from "./selection.ts";
import { byIds, indexOf } from "./span-edits.ts";

/**
 * Writes a row for each changed field. Versions are higher than the stored ones, whatever the clock says, so the last
 * of consecutive changes wins, on any node.
 */
export async function editSpans(
  database: SpanDatabase,
  organization_id: string,
  edits: readonly NewEdit[],
  nowMs: number,
): Promise<void> {
  const where = allOf(scopeWhere({ organization_id }), byIds(edits.map(({ unique_id }) => unique_id)));
  const sql = `SELECT max(version) AS version FROM span_edits WHERE ${where.sql}`;
  const { rows: found } = await database.query({ name: "edit_spans", sql, params: where.params });
  const next = BigInt(String(found[0]?.["version"])) + 1n;
  const now = BigInt(nowMs) * 1_000_000n;
  const first = next > now ? next : now;
  const rows = edits.flatMap(({ unique_id, change }, index) =>
    changedFields(change).map((field) => ({
      organization_id,
      unique_id,
      version: String(first + BigInt(index)),
      is_deleted: 0,
      ...field,
    })),
  );
  if (rows.length === 0) return;
  const ndjson = Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  try {
    await database.insert({ ndjson, rows: rows.length, token: randomUUID(), table: "span_edits" });
  } catch (cause) {
    throw new ServiceError("unavailable", "The change could not be stored just now.", { retryAfterS: 1, cause });
  }
}

type FieldRow = { field: EditField; key: string; value: string; index_entries: Record<string, string> };

function changedFields({ note, is_pinned, positive_feedback, metadata = {} }: SpanChange): FieldRow[] {
  const plain = (field: EditField, value: string | undefined): FieldRow[] =>
    value === undefined ? [] : [{ field, key: "", value, index_entries: {} }];
  return [
    ...plain("note", note === undefined ? undefined : (note ?? "")),
    ...plain("is_pinned", is_pinned === undefined ? undefined : String(is_pinned)),
    ...plain("positive_feedback", positive_feedback === undefined ? undefined : String(positive_feedback ?? "")),
    ...Object.entries(metadata).map(([key, value]): FieldRow => {
      const text = value === null || value === undefined ? "" : JSON.stringify(value);
      return { field: "metadata", key, value: text, index_entries: indexOf(key, text) };
    }),
  ];
}
