import type { FieldTerm } from "../../query-bar/query.ts";

/** What the counts of errors count. */
export const failedTerm: FieldTerm = {
  type: "field",
  field: "failed",
  operator: "is",
  values: ["true"],
  negated: false,
};
