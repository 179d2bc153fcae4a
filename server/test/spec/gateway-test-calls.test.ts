import { afterAll, beforeAll, expect, test } from "vitest";
import { gatewayWays, send } from "../support/gateway-operations.ts";
import { answers, startScriptedUpstream, streams, type ScriptedUpstream } from "../support/scripted-upstream.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { TestClient } from "../support/test-client.ts";

/** K6: whose provider keys the calls of test use, in every operation. */

let app: TestApp;
let upstream: ScriptedUpstream;
beforeAll(async () => {
  upstream = await startScriptedUpstream();
  app = await startTestApp({ SPANWAY_ALLOW_PRIVATE_UPSTREAMS: "127.0.0.1" });
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

async function store(client: TestClient, api_key: string): Promise<void> {
  for (const [provider, base_url] of Object.entries({ openai: `${upstream.url}/v1`, anthropic: upstream.url })) {
    const made = await client.post("/api/providers/", { provider, base_url, api_key });
    expect(made.status).toBe(201);
  }
}

test.each(gatewayWays)("K6: %s", async (_name, { operation, isStream }) => {
  upstream.script(isStream ? streams(operation.begin, operation.end) : answers(200, operation.whole));
  const { prod, test: ofTest, unique_organization_id: id } = await app.newOrganization();
  /** The key that the provider got, or undefined if it got no call. */
  const usedBy = async (client: TestClient): Promise<string | undefined> => {
    const before = upstream.requests.length;
    const { status } = await send(client, operation, { ...(isStream && { stream: true }) });
    const { headers } = upstream.requests[before] ?? {};
    const key = headers?.["x-api-key"] ?? headers?.authorization?.replace("Bearer ", "");
    expect([key === undefined, status === 200]).toEqual([key === undefined, key !== undefined]);
    return key;
  };
  await store(prod, "sk-of-prod-0123456789");
  expect([await usedBy(prod), await usedBy(ofTest)]).toEqual(["sk-of-prod-0123456789", undefined]);
  const admin = await app.login();
  const share = (test_uses_prod_providers: boolean) =>
    admin.request("PATCH", `/api/organizations/${id}/`, { test_uses_prod_providers });
  expect((await share(true)).status).toBe(200);
  expect(await usedBy(ofTest)).toBe("sk-of-prod-0123456789");
  await store(ofTest, "sk-of-test-0123456789");
  expect([await usedBy(prod), await usedBy(ofTest)]).toEqual(["sk-of-prod-0123456789", "sk-of-test-0123456789"]);
  await share(false);
  expect([await usedBy(prod), await usedBy(ofTest)]).toEqual(["sk-of-prod-0123456789", "sk-of-test-0123456789"]);
});
