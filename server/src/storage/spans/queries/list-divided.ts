import type { SpanDatabase } from "../drivers/span-database.ts";
import type { DividedQuery, DividedSpan } from "../usage-facts.ts";
import { allOf, scopeWhere, windowWhere, type Where } from "./selection.ts";

/**
 * Spans with rows of several end times that no tombstone hides. Without FINAL, which needs the time range of the spans.
 */
export async function listDivided(
  database: SpanDatabase,
  query: DividedQuery,
  signal?: AbortSignal,
): Promise<DividedSpan[]> {
  const { among, within } = rangeOf(query);
  const limit = "limit" in query ? `LIMIT ${query.limit}` : "";
  const { rows } = await database.query(
    {
      name: "list_divided",
      // PREWHERE: of most rows only the id is read.
      sql: `SELECT organization_id, environment, any(trace) AS trace_unique_id, if(trace_unique_id = '', toString(id), '') AS unique_id
        FROM (
          SELECT organization_id, environment, unique_id AS id, timestamp, argMax(trace_unique_id, version) AS trace
          FROM spans PREWHERE unique_id GLOBAL IN (SELECT unique_id FROM spans WHERE ${among}) WHERE ${within.sql}
          GROUP BY organization_id, environment, id, timestamp HAVING argMax(is_deleted, version) = 0
        )
        GROUP BY organization_id, environment, id HAVING count() > 1 ${limit}`,
      params: within.params,
    },
    signal,
  );
  return rows.map((row) => ({
    organizationId: String(row["organization_id"]),
    environment: String(row["environment"]),
    trace_unique_id: String(row["trace_unique_id"]),
    unique_id: String(row["unique_id"]),
  }));
}

// Most spans have one row: they are dropped before anything of them is kept in memory.
const severalTimes = "GROUP BY unique_id HAVING min(timestamp) != max(timestamp)";

/** The rows to compare, and which spans may be among them; both have the same parameters. */
function rangeOf(query: DividedQuery): { among: string; within: Where } {
  if ("window" in query) {
    const scope = scopeWhere({ organization_id: query.organizationId });
    const within = allOf(scope, windowWhere(query.window), { sql: "trace_unique_id = ''", params: {} });
    return { among: `${within.sql} ${severalTimes}`, within };
  }
  const recent = `stored_at >= now64(3) - toIntervalMillisecond(${query.withinMs})`;
  if (query.endedWithinMs === undefined)
    return { among: `${recent} ${severalTimes}`, within: { sql: recent, params: {} } };
  // See `isDerivedId`.
  const keyed = "trace_unique_id = '' AND timestamp = received_at AND substring(toString(unique_id), 15, 1) = '8'";
  const ended = `timestamp >= now64(9) - toIntervalMillisecond(${query.endedWithinMs})`;
  return { among: `${recent} AND ${keyed}`, within: { sql: ended, params: {} } };
}
