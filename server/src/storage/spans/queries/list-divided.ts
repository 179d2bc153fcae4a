import type { SpanDatabase } from "../drivers/span-database.ts";
import type { DividedQuery, DividedSpan } from "../usage-facts.ts";
import { allOf, scopeWhere, type Where } from "./selection.ts";

/**
 * Spans with rows of several end times that no tombstone hides. Without FINAL, which needs the time range of the spans.
 */
export async function listDivided(
  database: SpanDatabase,
  query: DividedQuery,
  signal?: AbortSignal,
): Promise<DividedSpan[]> {
  const where = whereOf(query);
  const limit = "limit" in query ? `LIMIT ${query.limit}` : "";
  const { rows } = await database.query(
    {
      name: "list_divided",
      sql: `SELECT organization_id, environment, any(trace) AS trace_unique_id, if(trace_unique_id = '', toString(id), '') AS unique_id
        FROM (
          SELECT organization_id, environment, unique_id AS id, timestamp, argMax(trace_unique_id, version) AS trace
          FROM spans WHERE ${where.sql}
          GROUP BY organization_id, environment, id, timestamp HAVING argMax(is_deleted, version) = 0
        )
        GROUP BY organization_id, environment, id HAVING count() > 1 ${limit}`,
      params: where.params,
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

function whereOf(query: DividedQuery): Where {
  if ("ids" in query) {
    const { organizationId, ids } = query;
    return allOf(scopeWhere({ organization_id: organizationId }), {
      sql: "unique_id IN {ids:Array(UUID)}",
      params: { ids },
    });
  }
  const recent = `stored_at >= now64(3) - toIntervalMillisecond(${query.withinMs})`;
  // Most spans have one row: they are dropped before anything of them is kept in memory.
  const sql = `${recent} AND unique_id GLOBAL IN (SELECT unique_id FROM spans WHERE ${recent} GROUP BY unique_id HAVING min(timestamp) != max(timestamp))`;
  return { sql, params: {} };
}
