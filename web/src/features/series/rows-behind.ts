import type { Group } from "../../charts/chart-data.ts";
import { isAbsent } from "../../charts/chart-data.ts";
import { printTerm } from "../../query-bar/print-query.ts";
import type { Term } from "../../query-bar/query.ts";

/** Adds terms to a query, for the list of the spans behind a figure. Undefined stands for no query. */
export function withTerms(query: string | undefined, terms: readonly Term[]): string | undefined {
  const texts = [query?.trim() ?? "", ...terms.map(printTerm)].filter((text) => text !== "");
  return texts.length === 0 ? undefined : texts.join(" ");
}

/** The terms that match the rows of a group. */
export function termsOfGroup(group: Group): Term[] {
  return Object.entries(group).map(([field, value]) =>
    isAbsent(value)
      ? { type: "has", field, negated: true }
      : { type: "field", field, operator: "is", values: [String(value)], negated: false },
  );
}
