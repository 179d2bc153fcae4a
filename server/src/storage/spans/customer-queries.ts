import type { CustomerNumber, CustomerSortField } from "../../domain/customer.ts";
import type { Environment } from "../../domain/principal.ts";
import type { SpanScope } from "../../domain/span.ts";
import type { GroupCondition, Page, TimeWindow } from "./span-store.ts";
import type { SeesEdits } from "./span-editing.ts";

export type ListCustomersQuery = {
  scope: SpanScope;
  window: TimeWindow | undefined;
  condition?: GroupCondition | undefined;
} & SeesEdits &
  Page & {
    /** Ties are broken by the identifier, in the same direction; absent texts come last. */
    sort: { field: CustomerSortField; descending: boolean };
  };

export type CustomerPageKey = { customer_identifier: string; environment: Environment };

export type DescribeCustomersQuery = {
  scope: SpanScope;
  identifiers: readonly string[];
  window?: TimeWindow | undefined;
  /** The start of the period of `period_cost`, which is 0 without it. */
  periodFromNs?: bigint | undefined;
};

/** Times are ends of spans, in the stored form. */
export type StoredCustomer = CustomerPageKey & {
  first_timestamp: string;
  last_timestamp: string;
  period_cost: number;
  /** Spans with usage of unknown cost. */
  period_unpriced: number;
  total_unpriced: number;
} & Record<CustomerNumber, number>;
