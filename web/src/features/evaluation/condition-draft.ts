import { slugOf } from "../../lib/slug.ts";
import { parseQuery } from "../../query-bar/parse-query.ts";
import { printQuery } from "../../query-bar/print-query.ts";
import { toFilters } from "../../query-bar/to-filters.ts";
import type { Condition } from "./condition-queries.ts";
import type { Problems } from "./draft.ts";
import { filtersOfPolicy, policyOf, queryOf } from "./policy.ts";

/** The condition form's values, as typed. */
export type ConditionDraft = {
  base: Condition | undefined;
  name: string;
  slug: string;
  description: string;
  /** Undefined if the query language cannot express the rules: they are then left unchanged. */
  query: string | undefined;
};

export function conditionDraftOf(condition: Condition | undefined): ConditionDraft {
  const query = condition === undefined ? [] : queryOf(condition.condition_policy);
  return {
    base: condition,
    name: condition?.name ?? "",
    slug: condition?.condition_slug ?? "",
    description: condition?.description ?? "",
    query: query && printQuery(query),
  };
}

/** The filters of matching logs; undefined if the query cannot be parsed or lists do not support such filters. */
export function filtersOfDraft({ base, query }: ConditionDraft): Record<string, unknown> | undefined {
  if (query === undefined) return base && filtersOfPolicy(base.condition_policy);
  const parsed = parseQuery(query);
  return parsed.problems.length > 0 ? undefined : toFilters(parsed.query);
}

type Read = { ok: true; body: Record<string, unknown> } | { ok: false; problems: Problems };

/** The request body of a draft; for an existing condition, only changed fields. Problems have the API's field names. */
export function readConditionDraft(draft: ConditionDraft): Read {
  const { base, name, slug, description, query } = draft;
  const problems: Record<string, string[]> = {};
  const parsed = parseQuery(query ?? "");
  if (parsed.problems[0] !== undefined) problems["condition_policy"] = [parsed.problems[0].message];
  const before = conditionDraftOf(base);
  const isNew = base === undefined;
  const body = {
    name: name.trim(),
    description,
    ...(query !== undefined && query !== before.query && { condition_policy: policyOf(parsed.query) }),
    ...(isNew && { condition_slug: slug.trim() || slugOf(name, "condition"), condition_type: "single_log" }),
    ...(isNew && { condition_policy: policyOf(parsed.query) }),
  };
  return Object.keys(problems).length > 0 ? { ok: false, problems } : { ok: true, body };
}
