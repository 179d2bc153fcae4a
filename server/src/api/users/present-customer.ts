import type { z } from "zod";
import type { Customer } from "../../domain/customer.ts";
import { customerNumbers } from "../../domain/customer.ts";
import { isoOf } from "../../customers/limit-info.ts";
import { firstStartMs, periodAt } from "../../customers/periods.ts";
import { pick } from "../../lib/pick.ts";
import { isoTime } from "../../lib/time.ts";
import type { StoredCustomer } from "../../storage/spans/customer-queries.ts";
import type { customerRow } from "./customer-schema.ts";

type Row = z.input<typeof customerRow>;

/** Returns a customer as lists show it. @param stated the figures of its spans; undefined if it has no spans */
export function presentRow(customer: Customer, stated: StoredCustomer | undefined, nowMs: number): Row {
  const analytics = presentAnalytics(stated);
  return {
    ...presentProfile(customer, nowMs),
    ...analytics,
    tokens: analytics.total_tokens,
    cost: analytics.total_cost,
    last_active_timeframe: analytics.last_active,
  };
}

export function presentProfile({ organization_id, sent: _sent, ...customer }: Customer, nowMs: number) {
  const { customer_identifier, environment, period_end, budget_duration } = customer;
  const current = budget_duration === null ? undefined : periodAt(customer, nowMs);
  const isCalendar = customer.period_start === null && period_end === null;
  return {
    id: `${customer_identifier}-${environment}-${organization_id}`,
    unique_organization_id: organization_id,
    ...customer,
    // For calendar periods, the current one is shown, because the first is of no use.
    period_start: isoOf(isCalendar && current !== undefined ? current.startMs : firstStartMs(customer)),
    period_end: period_end ?? (current?.endMs === undefined ? null : isoOf(current.endMs)),
  };
}

export function presentAnalytics(stated: StoredCustomer | undefined) {
  const numbers = stated === undefined ? noNumbers : pick(stated, ...customerNumbers);
  return {
    ...numbers,
    total_requests: numbers.number_of_requests,
    last_active: stated === undefined ? null : isoTime(stated.last_timestamp),
  };
}

const noNumbers = Object.fromEntries(customerNumbers.map((name) => [name, 0])) as Pick<
  StoredCustomer,
  (typeof customerNumbers)[number]
>;
