import { editedMetadataText, editFields, type EditField, type SpanEdits } from "../../../domain/span-edit.ts";
import type { ReadColumn, SpanColumn, SpanScope } from "../../../domain/span.ts";
import { indexMetadata, topKeyOf } from "../../../filter/metadata-index.ts";
import { fromByteString, toByteString } from "../../../lib/byte-string.ts";
import { parseKeepingDigits } from "../../../lib/json.ts";
import type { SpanDatabase } from "../drivers/span-database.ts";
import { rawPlace, type RawSpan } from "../raw-span.ts";
import type { StoredSpan } from "../span-store.ts";
import { scopeWhere, type Where } from "./selection.ts";

/** Edits by the ids of their spans. */
export type EditsById = ReadonlyMap<string, SpanEdits>;

const noEdits: EditsById = new Map();

/** The edited fields that are read with these columns, fields or members of spans. */
export function editFieldsIn(names: Iterable<string>): Set<EditField> {
  const fields = new Set<EditField>();
  for (const name of names) {
    const field = name.startsWith("metadata") ? "metadata" : editFields.find((each) => each === name);
    if (field !== undefined && name !== "metadata_reserved") fields.add(field);
  }
  return fields;
}

/** The fields with edits in an organization. Most organizations have none: this is cached until some come in. */
export async function fieldsEdited(
  database: SpanDatabase,
  { organization_id }: SpanScope,
  signal?: AbortSignal,
): Promise<ReadonlySet<EditField>> {
  const { edits } = database;
  if (edits?.hasNone(organization_id) === true) return new Set();
  const since = edits?.state();
  const { sql, params } = scopeWhere({ organization_id });
  const probe = { name: "probe", sql: `SELECT DISTINCT field FROM span_edits WHERE ${sql}`, params };
  const { rows } = await database.query(probe, signal);
  if (rows.length === 0 && since !== undefined && edits?.state() === since) edits.foundNone(organization_id);
  return editFieldsIn(rows.map((row) => String(row["field"])));
}

/** Whether an organization has edits of any of these keys of metadata. */
export async function areKeysEdited(
  database: SpanDatabase,
  { organization_id }: SpanScope,
  keys: readonly string[],
  signal?: AbortSignal,
): Promise<boolean> {
  const { sql, params } = scopeWhere({ organization_id });
  const edited = `SELECT 1 AS one FROM span_edits WHERE ${sql} AND field = 'metadata' AND key IN {edit_keys:Array(String)} LIMIT 1`;
  const { rows } = await database.query({ name: "probe", sql: edited, params: { ...params, edit_keys: keys } }, signal);
  return rows.length > 0;
}

/** The edits of the spans that `ids` selects, a condition on `unique_id`. Empty if no editable column is requested. */
export async function readEdits(
  database: SpanDatabase,
  { organization_id }: SpanScope,
  { ids, columns }: { ids: Where; columns: readonly ReadColumn[] },
  signal?: AbortSignal,
): Promise<EditsById> {
  if (editFieldsIn(columns).size === 0) return noEdits;
  if ((await fieldsEdited(database, { organization_id }, signal)).size === 0) return noEdits;
  const scope = scopeWhere({ organization_id });
  const { rows } = await database.query(
    {
      name: "span_edits",
      sql: `SELECT unique_id, field, key, value FROM span_edits FINAL WHERE ${scope.sql} AND ${ids.sql}`,
      params: { ...scope.params, ...ids.params },
    },
    signal,
  );
  const found = new Map<string, ReturnType<typeof newEdits>>();
  for (const row of rows) {
    const [id, field, key, value] = ["unique_id", "field", "key", "value"].map((name) => String(row[name]));
    const edits = found.get(id ?? "") ?? newEdits();
    found.set(id ?? "", edits);
    if (field === "note") edits.note = value ?? "";
    else if (field === "is_pinned") edits.is_pinned = value === "true";
    else if (field === "positive_feedback") edits.positive_feedback = value === "" ? null : value === "true";
    else edits.metadata.set(key ?? "", value ?? "");
  }
  return found;
}

const newEdits = (): SpanEdits & { metadata: Map<string, string> } => ({ metadata: new Map() });

/** Selects the edits of these spans. */
export const byIds = (ids: readonly string[]): Where => ({
  sql: "unique_id IN {edited_ids:Array(UUID)}",
  params: { edited_ids: ids },
});

/** Applies edits to a span, for the columns that it was read with. */
export function withEdits(span: StoredSpan, edits: EditsById): StoredSpan {
  const own = edits.size === 0 ? undefined : edits.get(span.unique_id);
  if (own === undefined) return span;
  const { metadata, ...plain } = own;
  for (const [column, value] of Object.entries(plain)) {
    if (column in span) Object.assign(span, { [column]: value });
  }
  if (metadata.size === 0) return span;
  if (span.metadata !== undefined) span.metadata = editedMetadataText(span.metadata, metadata);
  if (span.metadata_index !== undefined) span.metadata_index = editedIndex(span.metadata_index, metadata);
  return span;
}

function editedIndex(index: Record<string, string>, changes: SpanEdits["metadata"]): Record<string, string> {
  const retained = Object.entries(index).filter(([path]) => !changes.has(topKeyOf(path)));
  const added = [...changes].flatMap(([key, value]) => Object.entries(indexOf(key, value)));
  return Object.fromEntries([...retained, ...added]);
}

/** The entries of a changed key in the index of metadata. */
export function indexOf(key: string, value: string): Record<string, string> {
  return value === "" ? {} : indexMetadata(Object.fromEntries([[key, parseKeepingDigits(value)]]));
}

/** Applies edits to raw spans that were read with `columns`. */
export function rawEditor(columns: readonly ReadColumn[], edits: EditsById): (span: RawSpan) => RawSpan {
  if (edits.size === 0) return (span) => span;
  const id = rawPlace(columns, "unique_id");
  const places = new Map(editedColumns.map((column) => [column, columns.indexOf(column)]));
  return (span) => {
    const own = edits.get(span[id]?.slice(1, -1) ?? "");
    if (own === undefined) return span;
    const row = [...span];
    for (const [column, place] of places) {
      const value = place === -1 ? undefined : rawValue(column, own, row[place] ?? '""');
      if (value !== undefined) row[place] = toByteString(JSON.stringify(value));
    }
    return row;
  };
}

const editedColumns = ["note", "is_pinned", "positive_feedback", "metadata"] as const satisfies readonly SpanColumn[];

function rawValue(column: (typeof editedColumns)[number], edits: SpanEdits, json: string): unknown {
  if (column !== "metadata") return edits[column];
  if (edits.metadata.size === 0) return undefined;
  return editedMetadataText(JSON.parse(fromByteString(json)) as string, edits.metadata);
}
