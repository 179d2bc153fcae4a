import { fromFilters } from "../../query-bar/from-filters.ts";
import { printQuery } from "../../query-bar/print-query.ts";
import type { Query } from "../../query-bar/query.ts";
import { toFilters } from "../../query-bar/to-filters.ts";
import type { Condition } from "./condition-queries.ts";

export type Policy = Condition["condition_policy"];

/** The API's names of condition operators, where they differ from those of filters. */
const words: Readonly<Record<string, string>> = {
  "": "equals",
  not: "not_equals",
  lt: "less_than",
  lte: "less_than_or_equal",
  gt: "greater_than",
  gte: "greater_than_or_equal",
};

/** The rules of a query, joined with AND. */
export function policyOf(query: Query): Policy {
  const rules = Object.entries(toFilters(query)).flatMap(([field, conditions]) =>
    conditions.map(({ operator, value }) => ({
      field: field.replace(/^metadata__/, "metadata."),
      operator: words[operator] ?? operator,
      value: value.length === 1 ? value[0] : value,
    })),
  );
  return { rules, connector: "AND" };
}

const joins = ({ connector }: Record<string, unknown>, ofPolicy: string): boolean =>
  [undefined, null, "", ofPolicy].includes(connector as string);

/** The policy as a query; undefined if the query language cannot express it, such as OR between rules. */
export function queryOf({ rules, connector = "AND" }: Policy): Query | undefined {
  const areJoined = connector === "AND" && rules.every((rule) => joins(rule, "AND"));
  if (!areJoined && rules.length > 1) return undefined;
  const terms = rules.map(({ field, operator, value }) => fromFilters({ [field]: { operator, value } }));
  return terms.includes(undefined) ? undefined : terms.flatMap((each) => each ?? []);
}

/** The policy as filters of lists; undefined if rules are joined in different ways. */
export function filtersOfPolicy({ rules, connector = "AND" }: Policy): Record<string, unknown> | undefined {
  if (rules.length === 0) return {};
  if (!rules.every((rule) => joins(rule, connector))) return undefined;
  return { connector, filter_params: rules.map(({ field, operator, value }) => ({ [field]: { operator, value } })) };
}

function ruleText({ field, operator = "equals", value }: Policy["rules"][number]): string {
  return `${field} ${operator.replaceAll("_", " ")} ${typeof value === "string" ? value : JSON.stringify(value)}`;
}

/** A policy in one line, as a query if possible. Empty means all logs. */
export function policyText(policy: Policy): string {
  const query = queryOf(policy);
  if (query !== undefined) return printQuery(query);
  return policy.rules.map(ruleText).join(` ${(policy.connector ?? "AND").toLowerCase()} `);
}
