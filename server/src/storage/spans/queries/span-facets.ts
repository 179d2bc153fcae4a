import { pathSeparator } from "../../../filter/metadata-index.ts";
import type { ResultRow, SpanDatabase } from "../drivers/span-database.ts";
import type { SpanFacets, SpanFacetsQuery } from "../span-facets.ts";
import { countedSpans, paramsOfParts, readsIdentity, type Counts } from "./counted-spans.ts";
import { groupKeys } from "./group-keys.ts";
import { readOnce, type Once } from "./once.ts";
import { partOf } from "./selection.ts";

/** Reads all fields in one pass over the spans. */
export async function facetSpans(
  database: SpanDatabase,
  query: SpanFacetsQuery,
  signal?: AbortSignal,
): Promise<SpanFacets> {
  const { fields, limit, search } = query;
  const part = partOf(query);
  const keys = groupKeys(fields, search);
  const params = { ...paramsOfParts([part]), ...keys.params };
  const sets = keys.names.map((name) => `(${name})`).join(", ");
  const isPresent = keys.names
    .map((name) => `(grouping(${name}) = 0 AND ifNull(toString(${name}), '') != '')`)
    .join(" OR ");
  const read = async (once: Once, counts: Counts) => {
    const spans = countedSpans([part], once, counts);
    const [values, metadata] = await Promise.all([
      database.query(
        {
          name: "facets",
          sql: `SELECT ${keys.select.join(", ")}, ${keys.names.map((name) => `grouping(${name}) AS ${name}_is_rest`).join(", ")}, count() AS facet_count
                FROM ${spans} WHERE ${keys.where} GROUP BY GROUPING SETS (${sets}) HAVING ${isPresent}
                ORDER BY facet_count DESC, ${keys.names.join(", ")} LIMIT ${limit} BY ${keys.names.map((name) => `${name}_is_rest`).join(", ")}`,
          params,
        },
        signal,
      ),
      database.query(
        {
          name: "facet_keys",
          sql: `SELECT arrayJoin(mapKeys(metadata_index)) AS key, count() AS facet_count FROM ${spans} WHERE ${keys.where}
            GROUP BY key ORDER BY facet_count DESC, key LIMIT ${limit}`,
          params,
        },
        signal,
      ),
    ]);
    return { values: values.rows, metadata: metadata.rows };
  };
  const counts = keys.isByIdentity ? "all" : readsIdentity(query.filter) ? "match" : "none";
  const found = await readOnce(database, { parts: [part], counts }, read, signal);
  const fieldOf = (row: ResultRow) => keys.names.findIndex((name) => Number(row[`${name}_is_rest`]) === 0);
  return {
    values: found.values.map((row) => {
      const field = fields[fieldOf(row)] ?? "";
      return { field, value: keys.valuesOf(row)[field] ?? null, count: Number(row["facet_count"]) };
    }),
    metadataKeys: found.metadata.map((row) => ({
      key: String(row["key"]).split(pathSeparator).join("__"),
      count: Number(row["facet_count"]),
    })),
  };
}
