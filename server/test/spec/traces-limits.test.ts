import { afterAll, beforeAll, expect, test } from "vitest";
import { bodyOf } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { TestClient } from "../support/test-client.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ SPANWAY_BULK_DELETE_PER_MINUTE: undefined, SPANWAY_API_PER_MINUTE: "30" });
});
afterAll(() => app.stop());

const path = "/api/traces/bulk/";
const alias = "/api/traces/bulk-delete/";

async function remove(client: TestClient, at: string, times: number): Promise<number[]> {
  const statuses: number[] = [];
  for (let n = 0; n < times; n += 1) {
    statuses.push((await client.post(at, { filters: { trace_unique_id: ["nothing"] } })).status);
  }
  return statuses;
}
const all = (status: number, times: number) => Array.from({ length: times }, () => status);

test("bulk delete: 10 requests a minute for an organisation and path, shared by its keys", async () => {
  const { prod, test: testKey } = await app.newOrganization();
  expect(await remove(prod, path, 6)).toEqual(all(200, 6));
  expect(await remove(testKey, path, 4)).toEqual(all(200, 4));
  const refused = await prod.post(path, { filters: { trace_unique_id: ["nothing"] } });
  expect(refused.status).toBe(429);
  expect(bodyOf(refused)).toMatchObject({ code: "rate_limited", retry_after: expect.any(Number) });
  expect(Number(refused.headers.get("retry-after"))).toBe(bodyOf(refused)["retry_after"]);
  // The other path has its own count, and other requests are not limited.
  expect(await remove(prod, alias, 10)).toEqual(all(200, 10));
  expect(await remove(prod, alias, 1)).toEqual([429]);
  expect((await prod.post("/api/traces/list/", {})).status).toBe(200);
  expect((await prod.request("DELETE", "/api/traces/nothing/")).status).toBe(200);
});

test("another organisation, and a person, are counted separately", async () => {
  const { prod } = await app.newOrganization();
  expect(await remove(prod, path, 1)).toEqual([200]);
  const person = await app.login();
  expect(await remove(person, path, 10)).toEqual(all(200, 10));
  expect(await remove(await app.login(), path, 1)).toEqual([429]);
  expect(await remove(app.prod, path, 1)).toEqual([200]);
});

test("listing, retrieving, sharing and deleting traces share one count of the organisation; spans have none", async () => {
  const { prod, test: testKey } = await app.newOrganization();
  const operations = [
    () => prod.post("/api/traces/list/", {}),
    () => testKey.get("/api/traces/nothing/"),
    () => prod.request("PATCH", "/api/traces/nothing/", { is_public: false }),
    () => testKey.request("DELETE", "/api/traces/nothing/"),
  ];
  const statuses = new Set<number>();
  for (let n = 0; n < 30; n += 1) statuses.add((await operations[n % operations.length]!()).status);
  expect(statuses).toEqual(new Set([200, 404]));
  for (const operation of operations) expect(bodyOf(await operation())).toMatchObject({ code: "rate_limited" });
  expect((await prod.post("/api/request-logs/list/", {})).status).toBe(200);
  expect((await app.prod.post("/api/traces/list/", {})).status).toBe(200);
});
