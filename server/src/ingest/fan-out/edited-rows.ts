import { editedMetadata, type SpanEdits } from "../../domain/span-edit.ts";
import type { SpanRow } from "../../domain/span.ts";
import { indexMetadata } from "../../filter/metadata-index.ts";
import { isObject, parseKeepingDigits } from "../../lib/json.ts";
import type { SpanStore } from "../../storage/spans/span-store.ts";
import type { StoredSpans } from "./fan-out.ts";

/** Applies edits to rows as they were sent, for subscribers that read content. */
export async function editedRows(
  spans: Pick<SpanStore, "readEdits">,
  { organizationId, rows }: StoredSpans,
  signal: AbortSignal,
): Promise<StoredSpans> {
  const ids = rows.map((row) => row.unique_id);
  const edits = await spans.readEdits({ organization_id: organizationId }, ids, signal);
  return edits.size === 0
    ? { organizationId, rows }
    : { organizationId, rows: rows.map((row) => editedRow(row, edits.get(row.unique_id))) };
}

function editedRow(row: SpanRow, edits: SpanEdits | undefined): SpanRow {
  if (edits === undefined) return row;
  const { metadata: changes, ...plain } = edits;
  const edited = { ...row, ...plain };
  if (changes.size === 0) return edited;
  const sent =
    typeof row.metadata === "string" && row.metadata !== "" ? parseKeepingDigits(row.metadata) : row.metadata;
  const metadata = editedMetadata(isObject(sent) ? sent : {}, changes);
  return { ...edited, metadata, metadata_index: indexMetadata(metadata) };
}
