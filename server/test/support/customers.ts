import { expect } from "vitest";
import { bodyOf, storeSpans } from "./spans.ts";
import type { TestApp } from "./test-app.ts";
import { createClient, type ListAnswer, type Row, type TestClient } from "./test-client.ts";

/** Set-up steps of tests of customers. */

/** Creates organizations, each with its own keys, with one sign-in. */
export async function organizationsOf(app: TestApp) {
  const admin = await app.login();
  return async (): Promise<{ prod: TestClient; testKey: TestClient; organizationId: string }> => {
    const made = bodyOf(await admin.post("/api/organizations/", { name: "Another" })) as {
      unique_organization_id: string;
      keys: { prod: string; test: string };
    };
    const [prod, testKey] = [createClient(app.url, made.keys.prod), createClient(app.url, made.keys.test)];
    return { prod, testKey, organizationId: made.unique_organization_id };
  };
}

/** A time on another day, in UTC. */
export const day = (offset: number, time = "12:00:00Z") =>
  `${new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10)}T${time}`;

export const spanOf = (customer_identifier: string, more: Row = {}): Row => ({
  customer_identifier,
  log_type: "chat",
  model: "gpt-4o",
  timestamp: day(-1),
  prompt_tokens: 10,
  completion_tokens: 5,
  cost: 0.5,
  latency: 2,
  ...more,
});

export const pathOf = (customer: string) => `/api/users/${encodeURIComponent(customer)}/`;

export async function listCustomers(client: TestClient, query = "", filters: unknown = {}): Promise<ListAnswer> {
  const answer = await client.post(`/api/users/list/?${query}`, { filters });
  if (answer.status !== 200) throw new Error(`list answered ${answer.status}: ${answer.text}`);
  return answer.json as ListAnswer;
}

export const namesOf = ({ results }: ListAnswer) => results.map((row) => row["customer_identifier"]);

export async function retrieveCustomer(client: TestClient, customer: string): Promise<Row> {
  const answer = await client.get(pathOf(customer));
  if (answer.status !== 200) throw new Error(`retrieve answered ${answer.status}: ${answer.text}`);
  return bodyOf(answer);
}

/** Resolves once the spans are stored, and the customers that they name are listed. */
export async function storeCustomers(client: TestClient, spans: readonly Row[]): Promise<void> {
  await storeSpans(client, spans);
  const names = new Set(spans.map((row) => row["customer_identifier"]).filter((name) => name !== ""));
  const filters = { customer_identifier: { operator: "in", value: [...names] } };
  await expect
    .poll(async () => (await listCustomers(client, "", filters)).count, { timeout: 10_000, interval: 30 })
    .toBe(names.size);
}
