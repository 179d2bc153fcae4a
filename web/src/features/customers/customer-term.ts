import type { FieldTerm } from "../../query-bar/query.ts";

/** The spans that name a customer. */
export const customerTerm = (customerId: string): FieldTerm => ({
  type: "field",
  field: "customer_identifier",
  operator: "is",
  values: [customerId],
  negated: false,
});
