import { usagePairs, usageLevels } from "../../../domain/trace.ts";
import type { SpanSelection, StatementParams } from "../span-store.ts";
import type { Once } from "./once.ts";
import { spansOf, type Where } from "./selection.ts";
import { hasUsage } from "./usage.ts";

/**
 * Which spans restate the usage of others, decided when reading: of a branch of a trace the deepest spans with usage
 * count, and a span above one of them does not, however far above. Two spans that are each other's parent do not restate
 * each other. So the order of arrival decides nothing, and a wrapper counts as long as nothing below it says what it used.
 *
 * `with` begins a statement; `of` gives the spans of a FROM clause the column `is_restated`, which the expressions of
 * `usage.ts` read.
 */
export type RollUp = { with: string; of: (spans: string) => string };

/** For statements that read no usage. */
export const withoutRollUp: RollUp = { with: "", of: (spans) => `(SELECT *, 0 AS is_restated FROM ${spans})` };

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
 * A statement that gives the keys, as text, of spans with usage whose parent has them as its parent. Asked apart, and only
 * where spans with usage stand above each other: within the climb it would be evaluated at every level.
 */
export function lookForPairs(parts: readonly Where[], once: Once): string {
  const every = spansOf(parts, once);
  const edge = (below: string, above: string) => `cityHash64(environment, trace_unique_id, ${below}, ${above})`;
  return `SELECT DISTINCT toString(${keys.span}) AS look FROM ${every} WHERE ${hasParent} AND ${hasUsage}
    AND ${edge("span_unique_id", "span_parent_id")} IN (SELECT ${edge("span_parent_id", "span_unique_id")} FROM ${every} WHERE ${hasParent})
    LIMIT ${usagePairs}`;
}

/** Which of some spans restate others, and which spans are to be looked at for it. */
export type Climb = (parts: readonly Where[], once: Once, paired: Paired) => RollUp;

/** Spans with usage that are their parent's parent: what `lookForPairs` gives. */
export type Paired = readonly bigint[];

/**
 * Climbs from the spans with usage to their parents, through those without usage, one level of all traces at a time. A
 * parent with usage is not climbed from: it is a start itself. One that is its parent's parent is none, and is climbed
 * through: only what is below the two restates them.
 */
export const climb: Climb = (parts, once, paired) => ({
  with: `WITH RECURSIVE ${usageParents("usage_parents", spansOf(parts, once), keys, paired)}`,
  of: restatedWhen(`${keys.span} IN (SELECT key FROM usage_parents)`),
});

/** The same of each customer by itself, over spans that all name one: only its own spans restate each other. */
export const climbWithinCustomers: Climb = (parts, once, paired) => ({
  with: `WITH RECURSIVE ${usageParents("own_parents", spansOf(parts, once), ownKeys, paired)}`,
  of: restatedWhen(restatesOwn),
});

/**
 * The same where spans of customers and of nobody are told apart: what names a customer counts as within customers, and
 * speaks for what names nobody below it, down to where a customer is named again.
 */
const climbByCustomer: Climb = (parts, once, paired) => {
  const spans = spansOf(parts, once);
  const named = `(SELECT * FROM ${spans} WHERE customer_identifier != '')`;
  return {
    with: `WITH RECURSIVE ${usageParents("usage_parents", spans, keys, paired)}, ${usageParents("own_parents", named, ownKeys, paired)},
      spoken_for AS (
        SELECT DISTINCT ${keys.span} AS key, 1 AS level FROM ${named} WHERE ${isIdentified} AND ${hasUsage} AND NOT ${restatesOwn}
        UNION ALL
        SELECT DISTINCT ${keys.span} AS key, above.level + 1 AS level FROM ${spans} AS here, (SELECT max(level) AS level FROM spoken_for) AS above
        WHERE ${hasParent} AND ${isIdentified} AND customer_identifier = '' AND above.level < ${usageLevels} AND ${keys.parent} IN (SELECT key FROM spoken_for)
      )`,
    of: restatedWhen(`if(customer_identifier = '',
      ${keys.span} IN (SELECT key FROM usage_parents) OR (${hasParent} AND ${keys.parent} IN (SELECT key FROM spoken_for)), ${restatesOwn})`),
  };
};

/** Of a selection: customers are told apart where it is grouped or filtered by them. */
export function climbFor({ filter }: Pick<SpanSelection, "filter">, groupedBy?: string): Climb {
  return groupedBy === "customer_identifier" || filter?.columns?.has("customer_identifier") ? climbByCustomer : climb;
}

type Keys = { span: string; parent: string };

const keysWith = (...more: readonly string[]): Keys => ({
  span: `cityHash64(${["environment", "trace_unique_id", "span_unique_id", ...more].join(", ")})`,
  parent: `cityHash64(${["environment", "trace_unique_id", "span_parent_id", ...more].join(", ")})`,
});
const keys = keysWith();
const ownKeys = keysWith("customer_identifier");
const restatesOwn = `${ownKeys.span} IN (SELECT key FROM own_parents)`;
const isIdentified = "trace_unique_id != '' AND span_unique_id != ''";

/** The keys of all spans that stand above one with usage. */
function usageParents(name: string, spans: string, { span, parent }: Keys, paired: Paired): string {
  const isStart = paired.length === 0 ? hasUsage : `(${hasUsage} AND ${keys.span} NOT IN (${paired.join(", ")}))`;
  return `${name} AS (
    SELECT DISTINCT ${parent} AS key, 1 AS level FROM ${spans} WHERE ${hasParent} AND ${isStart}
    UNION ALL
    SELECT DISTINCT ${parent} AS key, above.level + 1 AS level FROM ${spans} AS here, (SELECT max(level) AS level FROM ${name}) AS above
    WHERE ${hasParent} AND NOT ${isStart} AND above.level < ${usageLevels} AND ${span} IN (SELECT key FROM ${name})
  )`;
}

const restatedWhen = (condition: string) => (from: string) =>
  `(SELECT *, ${hasUsage} AND ${isIdentified} AND (${condition}) AS is_restated FROM ${from})`;
