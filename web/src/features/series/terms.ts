import type { FieldTerm } from "../../query-bar/query.ts";

/** Selects the spans that error counts include. */
export const failedTerm: FieldTerm = {
  type: "field",
  field: "failed",
  operator: "is",
  values: ["true"],
  negated: false,
};
