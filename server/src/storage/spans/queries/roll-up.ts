import { limits } from "../../../limits.ts";
import type { SpanDatabase } from "../drivers/span-database.ts";
import type { StatementParams } from "../span-store.ts";
import { spansOf, type Where } from "./selection.ts";
import { hasUsage } from "./usage.ts";

/**
 * Which spans restate the usage of others, decided when reading: of a branch of a trace the deepest spans with usage
 * count, and a span above one of them does not, however far above. So the order of arrival decides nothing, and a
 * wrapper counts as long as nothing below it says what it used.
 *
 * `with` begins a statement; `of` gives the spans of a FROM clause the column `is_restated`, which the expressions of
 * `usage.ts` read.
 */
export type RollUp = { with: string; of: (spans: string) => string };

/** For statements that read no usage. */
export const withoutRollUp: RollUp = { with: "", of: (spans) => `(SELECT *, 0 AS is_restated FROM ${spans})` };

const spanKey = "cityHash64(environment, trace_unique_id, span_unique_id)";
const parentKey = "cityHash64(environment, trace_unique_id, span_parent_id)";
// A span that names itself as its parent restates nobody.
const hasParent = "trace_unique_id != '' AND span_parent_id != '' AND span_parent_id != span_unique_id";

/**
 * `parts` are the spans that a statement reads, filters apart: what a filter leaves out still tells what restates it.
 *
 * Climbs from the spans with usage to their parents, through those without usage, one level of all traces at a time. A
 * parent with usage is not climbed from: it is a start itself. Where no span with usage has such a parent, which is the
 * usual case, one or two cheap looks say so.
 */
export async function rollUp(database: SpanDatabase, parts: readonly Where[], signal?: AbortSignal): Promise<RollUp> {
  const params = Object.assign({}, ...parts.map((part) => part.params)) as StatementParams;
  // Rows of older versions can only make this look too careful, so it does without FINAL; nor does it mind that two
  // traces may use the same span ids.
  const every = spansOf(parts, { isFinal: false });
  const children = await database.query(
    { name: "roll_up", sql: `SELECT 1 FROM ${every} WHERE ${hasParent} AND ${hasUsage} LIMIT 1`, params },
    signal,
  );
  if (children.rows.length === 0) return withoutRollUp;
  const { rows } = await database.query(
    {
      name: "roll_up",
      sql: `SELECT 1 FROM ${every} WHERE (span_parent_id != '' OR ${hasUsage})
        AND cityHash64(span_unique_id) IN (SELECT cityHash64(span_parent_id) FROM ${every} WHERE ${hasParent} AND ${hasUsage}) LIMIT 1`,
      params,
    },
    signal,
  );
  if (rows.length === 0) return withoutRollUp;
  const spans = spansOf(parts);
  return {
    with: `WITH RECURSIVE usage_parents AS (
        SELECT DISTINCT ${parentKey} AS key, 1 AS level FROM ${spans} WHERE ${hasParent} AND ${hasUsage}
        UNION ALL
        SELECT DISTINCT ${parentKey} AS key, above.level + 1 AS level FROM ${spans} AS here, (SELECT max(level) AS level FROM usage_parents) AS above
        WHERE ${hasParent} AND NOT ${hasUsage} AND above.level < ${limits.usageLevels} AND ${spanKey} IN (SELECT key FROM usage_parents)
      )`,
    of: (from) =>
      `(SELECT *, ${hasUsage} AND trace_unique_id != '' AND span_unique_id != '' AND ${spanKey} IN (SELECT key FROM usage_parents) AS is_restated FROM ${from})`,
  };
}
