import { customerInLink, type AlertGroupStatus, type AlertHistoryEntry } from "../../domain/alert.ts";
import type { CustomerKey } from "../../domain/customer.ts";
import { likeText } from "./json-rows.ts";
import type { ControlQueries } from "./open-control-database.ts";

/** Removes a customer from states and histories, and from their links if filters of a rule name it. */
export async function eraseCustomerInAlerts(queries: ControlQueries, customer: CustomerKey): Promise<void> {
  await eraseInStatuses(queries, customer);
  const { organization_id, environment, customer_identifier } = customer;
  await queries
    .deleteFrom("alert_history")
    .where("unique_organization_id", "=", organization_id)
    .where("environment", "=", environment)
    .where("customer_identifier", "=", customer_identifier)
    .execute();
  await eraseInLinks(queries, customer);
}

async function eraseInStatuses(
  queries: ControlQueries,
  { organization_id, environment, customer_identifier }: CustomerKey,
): Promise<void> {
  const alerts = await queries
    .selectFrom("alerts")
    .innerJoin("alert_statuses", "alert_statuses.alert_id", "alerts.id")
    .select(["alerts.id", "alert_statuses.statuses"])
    .where("unique_organization_id", "=", organization_id)
    .where("environment", "=", environment)
    .execute();
  for (const { id, statuses } of alerts) {
    const all = JSON.parse(statuses) as AlertGroupStatus[];
    const remaining = all.filter(({ group }) => group["customer_identifier"] !== customer_identifier);
    if (remaining.length === all.length) continue;
    await queries
      .updateTable("alert_statuses")
      .set({ statuses: JSON.stringify(remaining) })
      .where("alert_id", "=", id)
      .execute();
    // A higher revision makes an evaluation that has read the old statuses fail to store its result.
    await queries
      .updateTable("alerts")
      .set((alert) => ({ revision: alert("revision", "+", 1) }))
      .where("id", "=", id)
      .execute();
  }
}

const rowsPerPage = 200;

async function eraseInLinks(
  queries: ControlQueries,
  { organization_id, environment, customer_identifier }: CustomerKey,
): Promise<void> {
  const named = queries
    .selectFrom("alert_history")
    .select(["id", "entry"])
    .where("unique_organization_id", "=", organization_id)
    .where("environment", "=", environment)
    .where("entry", "like", likeText(customerInLink(customer_identifier)))
    .orderBy("id")
    .limit(rowsPerPage);
  for (let after = 0, isMore = true; isMore;) {
    const rows = await named.where("id", ">", after).execute();
    for (const { id, entry } of rows) {
      const without = { ...(JSON.parse(entry) as AlertHistoryEntry), spans_path: null };
      await queries
        .updateTable("alert_history")
        .set({ entry: JSON.stringify(without) })
        .where("id", "=", id)
        .execute();
      after = id;
    }
    isMore = rows.length === rowsPerPage;
  }
}
