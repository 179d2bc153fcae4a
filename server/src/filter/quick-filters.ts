import type { Catalogue } from "./catalogue.ts";
import { readOperator } from "./operators.ts";
import type { ParsedFilter } from "./parse.ts";
import { parseConditions } from "./parse.ts";

/** Query parameters that are never filters, whichever route reads them. */
export const urlParameters: ReadonlySet<string> = new Set([
  "page",
  "page_size",
  "page_after",
  "sort_by",
  "group_by",
  "start_time",
  "end_time",
  "environment",
  "log_type",
  "include_fields",
  "fetch_filters",
  "is_test",
  "all_envs",
]);

const bracketed = /^([^[\]]+)\[([a-z_]+)\](?:\[\])?$/i;

/** `others` are members that no condition has; the parser reports them. */
type QuickFilter = { values: string[]; operator: string; connector?: string; others: Record<string, string> };

/**
 * Reads the filters of a URL: `field=value`, or `field[value]=…&field[operator]=…&field[connector]=AND|OR`. A repeated
 * value means any of them; `in` and `not_in` also take a comma-separated list. An unknown name filters metadata.
 * `parameters` are those that the route reads itself.
 *
 * `assumed` are unknown names that were taken for metadata, and `ignored` parameters that only other routes have, so
 * that a caller can report them.
 *
 * @throws ServiceError `invalid_request` that names the field.
 */
export function parseQuickFilters<Row>(
  query: Iterable<readonly [name: string, value: string]>,
  catalogue: Catalogue<Row>,
  parameters: readonly string[],
): Pick<ParsedFilter, "filter"> & { assumed: string[]; ignored: string[] } {
  const ignored = new Set<string>();
  const filters = new Map<string, QuickFilter>();
  for (const [parameter, value] of query) {
    if (parameters.includes(parameter)) continue;
    if (urlParameters.has(parameter)) {
      ignored.add(parameter);
      continue;
    }
    const parts = bracketed.exec(parameter);
    const name = parts?.[1] ?? parameter.replace(/\[\]$/, "");
    const filter = filters.get(name) ?? { values: [], operator: "", others: {} };
    filters.set(name, filter);
    const member = parts?.[2] ?? "value";
    if (member === "operator" || member === "connector") filter[member] = value;
    else if (member === "value") filter.values.push(value);
    else filter.others[member] = value;
  }
  const members = [...filters].map(([name, filter]) => [fieldName(name, catalogue), condition(filter)] as const);
  const assumed = [...filters.keys()].filter((name) => fieldName(name, catalogue) !== name);
  return { filter: parseConditions(members, catalogue).filter, assumed, ignored: [...ignored] };
}

function fieldName<Row>(name: string, catalogue: Catalogue<Row>): string {
  return catalogue.find(name) !== undefined || name.startsWith("metadata__") ? name : `metadata__${name}`;
}

function condition({ values, operator, connector, others }: QuickFilter): Record<string, unknown> {
  const isList = readOperator(operator)?.list === true;
  const value = isList ? values.flatMap((text) => text.split(",").map((part) => part.trim())) : values;
  return { ...others, operator, value, connector };
}
