import { usageLevels } from "../../../domain/trace.ts";
import type { StatementParams } from "../span-store.ts";
import type { Once } from "./once.ts";
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
const hasParent = "has_parent = 1";

/** What `parts` bind. */
export const paramsOf = (parts: readonly Where[]): StatementParams =>
  Object.assign({}, ...parts.map(({ params }) => params)) as StatementParams;

/**
 * A statement that gives a row where a span with usage stands above one with usage, or above one that is a parent itself
 * and so may lead to it; where none does, which is the usual case, nothing is restated. `parts` are the spans that are to
 * be summed, filters apart: what a filter leaves out still tells what restates it.
 *
 * Rows of older versions can only make this look too careful, so it does without FINAL; nor does it mind that two traces
 * may use the same span ids. The first condition is known before a row is read, and mostly by the index alone.
 */
export function lookForParents(parts: readonly Where[]): string {
  const every = spansOf(parts, "");
  const parents = `SELECT cityHash64(span_parent_id) FROM ${every} WHERE ${hasParent}`;
  return `SELECT 'parent' AS look FROM ${every} WHERE (SELECT count() FROM (SELECT 1 FROM ${every} WHERE ${hasParent} LIMIT 1)) = 1
    AND ${hasUsage} AND cityHash64(span_unique_id) IN (${parents} AND (${hasUsage} OR cityHash64(span_unique_id) IN (${parents}))) LIMIT 1`;
}

/**
 * Climbs from the spans with usage to their parents, through those without usage, one level of all traces at a time. A
 * parent with usage is not climbed from: it is a start itself.
 */
export function climb(parts: readonly Where[], once: Once): RollUp {
  const spans = spansOf(parts, once);
  return {
    with: `WITH RECURSIVE usage_parents AS (
        SELECT DISTINCT ${parentKey} AS key, 1 AS level FROM ${spans} WHERE ${hasParent} AND ${hasUsage}
        UNION ALL
        SELECT DISTINCT ${parentKey} AS key, above.level + 1 AS level FROM ${spans} AS here, (SELECT max(level) AS level FROM usage_parents) AS above
        WHERE ${hasParent} AND NOT ${hasUsage} AND above.level < ${usageLevels} AND ${spanKey} IN (SELECT key FROM usage_parents)
      )`,
    of: (from) =>
      `(SELECT *, ${hasUsage} AND trace_unique_id != '' AND span_unique_id != '' AND ${spanKey} IN (SELECT key FROM usage_parents) AS is_restated FROM ${from})`,
  };
}
