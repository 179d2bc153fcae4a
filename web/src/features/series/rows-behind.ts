import type { Group } from "../../charts/chart-data.ts";
import { isAbsent } from "../../charts/chart-data.ts";
import { printTerm } from "../../query-bar/print-query.ts";
import type { Term } from "../../query-bar/query.ts";

/** A typed query with more terms, for the list of the rows behind a figure. Undefined is no query. */
export function withTerms(query: string | undefined, terms: readonly Term[]): string | undefined {
  const texts = [query?.trim() ?? "", ...terms.map(printTerm)].filter((text) => text !== "");
  return texts.length === 0 ? undefined : texts.join(" ");
}

/** What the rows of a group have in common. */
export function termsOfGroup(group: Group): Term[] {
  return Object.entries(group).map(([field, value]) =>
    isAbsent(value)
      ? { type: "has", field, negated: true }
      : { type: "field", field, operator: "is", values: [String(value)], negated: false },
  );
}
