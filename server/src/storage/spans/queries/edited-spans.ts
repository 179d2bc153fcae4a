import type { EditField } from "../../../domain/span-edit.ts";
import type { SpanScope } from "../../../domain/span.ts";
import { pathSeparator } from "../../../filter/metadata-index.ts";
import type { SpanDatabase } from "../drivers/span-database.ts";
import type { GroupCondition, SpanCondition } from "../span-store.ts";
import { areKeysEdited, editFieldsIn, fieldsEdited } from "./span-edits.ts";

/** The edited fields that a statement reads and that have any edits: usually none. */
export type SeenEdits = ReadonlySet<EditField>;

type EditedQuery = {
  scope: SpanScope;
  filter?: SpanCondition | undefined;
  /** Filters that each select spans of their own. */
  filters?: ReadonlyArray<SpanCondition | undefined>;
  condition?: GroupCondition | undefined;
};

/**
 * Adds the edited fields to a query. `names`: columns, fields or members that it reads besides those of its filters.
 */
export async function seeEdits<Q extends EditedQuery>(
  database: SpanDatabase,
  query: Q,
  names: readonly string[],
  signal?: AbortSignal,
): Promise<Q & { edits: SeenEdits }> {
  const conditions = [
    query.filter,
    ...(query.filters ?? []),
    query.condition?.where,
    ...(query.condition?.matches ?? []),
  ];
  const columns = conditions.flatMap((condition) => [...(condition?.columns ?? (condition === undefined ? [] : all))]);
  const read = editFieldsIn([...names, ...columns]);
  if (read.size === 0) return { ...query, edits: read };
  const edits = read.intersection(await fieldsEdited(database, query.scope, signal));
  const keys = edits.has("metadata") ? metadataKeysIn(names, conditions) : undefined;
  if (keys !== undefined && !(await areKeysEdited(database, query.scope, keys, signal))) edits.delete("metadata");
  return { ...query, edits };
}

/** The top-level keys of metadata that are read; undefined if it may be any. */
function metadataKeysIn(
  names: readonly string[],
  conditions: ReadonlyArray<SpanCondition | undefined>,
): string[] | undefined {
  const keys = names.flatMap((name) => {
    if (!name.startsWith("metadata")) return [];
    const key = name.startsWith(ofKey) ? name.slice(ofKey.length) : undefined;
    // The key may be a path.
    return key === undefined ? [undefined] : [key, key.split("__", 1)[0]];
  });
  for (const condition of conditions) {
    if (condition !== undefined) keys.push(...(condition.metadataKeys ?? [undefined]));
  }
  return keys.includes(undefined) ? undefined : keys.filter((key) => key !== undefined);
}

const ofKey = "metadata__";

/** Assumed for a condition whose columns are not known. */
const all = ["note", "is_pinned", "positive_feedback", "metadata"];

/** Whether a condition reads a column that may have edits. */
export function readsEdited(condition: SpanCondition | undefined, edits: SeenEdits): boolean {
  if (condition === undefined || edits.size === 0) return false;
  const { columns } = condition;
  return columns === undefined || !editFieldsIn(columns).isDisjointFrom(edits);
}

const ofFields = (edits: SeenEdits): string =>
  `organization_id = {organization_id:String} AND field IN (${[...edits].map((field) => `'${field}'`).join(", ")})`;

/** Whether a span has such an edit. Filters give the same result for other spans before and after the join. */
export const hasEdit = (edits: SeenEdits): string =>
  `unique_id GLOBAL IN (SELECT unique_id FROM span_edits WHERE ${ofFields(edits)})`;

/** Rows of `spans`, a statement over the table of spans, with the edits of these fields. */
export function editedSpans(spans: string, edits: SeenEdits): string {
  if (edits.size === 0) return spans;
  const fields = [...edits].map((field) => overlays[field]);
  const found = `SELECT unique_id AS edited_id, ${fields.map(({ found: columns }) => columns).join(", ")}
    FROM span_edits FINAL WHERE ${ofFields(edits)} GROUP BY unique_id`;
  return `SELECT * REPLACE (${fields.map(({ replaced }) => replaced).join(", ")})
    FROM (${spans}) AS sent GLOBAL ANY LEFT JOIN (${found}) AS edits ON unique_id = edited_id`;
}

/** `found`: aggregates over the edits of a span. `replaced`: the columns of the span with these edits. */
type Overlay = { found: string; replaced: string };

const plain = (field: EditField, value: string): Overlay => ({
  found: `toUInt8(countIf(field = '${field}')) AS edits_${field}, anyIf(value, field = '${field}') AS edit_${field}`,
  replaced: `if(edits_${field} = 0, ${field}, ${value}) AS ${field}`,
});

const isOfMetadata = "field = 'metadata'";
const isRetained = (key: string): string => `NOT has(edit_keys, ${key})`;
const members = (list: string): string => `arrayMap(member -> concat(toJSONString(member.1), ':', member.2), ${list})`;

// If no sent key is changed, the sent text stays as it is: only then do numbers beyond 64 bits keep their digits.
const addedTo = `concat(substring(metadata, 1, length(metadata) - 1), if(empty(edit_members), '', ','), arrayStringConcat(${members("edit_members")}, ','), '}')`;
const rebuilt = `concat('{', arrayStringConcat(arrayConcat(${members(
  `arrayFilter(member -> ${isRetained("member.1")}, JSONExtractKeysAndValuesRaw(metadata))`,
)}, ${members("edit_members")}), ','), '}')`;
const isOnlyAdded = "metadata NOT IN ('', '{}') AND NOT hasAny(JSONExtractKeys(metadata), edit_keys)";

const sentIndex = "arrayZip(CAST(mapKeys(metadata_index), 'Array(String)'), mapValues(metadata_index))";
const retainedIndex = `arrayFilter(entry -> ${isRetained(`splitByChar('${pathSeparator}', entry.1)[1]`)}, ${sentIndex})`;

const overlays: Record<EditField, Overlay> = {
  note: plain("note", "edit_note"),
  is_pinned: plain("is_pinned", "toBool(edit_is_pinned = 'true')"),
  positive_feedback: plain(
    "positive_feedback",
    "if(edit_positive_feedback = '', NULL, toBool(edit_positive_feedback = 'true'))",
  ),
  metadata: {
    found: `groupArrayIf(key, ${isOfMetadata}) AS edit_keys,
      groupArrayIf((key, value), ${isOfMetadata} AND value != '') AS edit_members,
      arrayFlatten(groupArrayIf(arrayZip(mapKeys(index_entries), mapValues(index_entries)), ${isOfMetadata})) AS edit_index`,
    replaced: `if(empty(edit_keys), metadata, if(${isOnlyAdded}, ${addedTo}, ${rebuilt})) AS metadata,
      if(empty(edit_keys), metadata_index, CAST(arrayConcat(${retainedIndex}, edit_index), 'Map(LowCardinality(String), String)')) AS metadata_index`,
  },
};
