import { createHmac } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { bodyOf } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { Row, TestClient } from "../support/test-client.ts";

/** The names under which webhooks sign, and what their ids reveal. */

let app: TestApp;
let receiver: Receiver;
let made = 0;
beforeAll(async () => {
  receiver = await startReceiver();
  app = await startTestApp({ SPANWAY_ALLOW_PRIVATE_UPSTREAMS: "127.0.0.1" });
});
afterAll(async () => {
  await app.stop();
  await receiver.close();
});

const waiting = { timeout: 10_000 };
const pathOf = ({ url }: Row): string => new URL(String(url)).pathname;

async function newWebhook(client: TestClient, fields: Row = {}): Promise<Row & { id: number; secrets: string }> {
  made += 1;
  const body = { url: `${receiver.url}/hook-${made}`, name: "Hook", event_type: "request_log", ...fields };
  return bodyOf(await client.post("/api/webhooks/", body)) as Row & { id: number; secrets: string };
}

test("K7: the product's former names sign for webhooks with legacy_signatures, until that is switched off", async () => {
  const { prod } = await app.newOrganization();
  const made = await newWebhook(prod, { legacy_signatures: true });
  expect(made["legacy_signatures"]).toBe(true);
  const signedBy = async (count: number) => {
    await prod.post("/api/request-logs/", { input: "x" });
    await expect.poll(() => receiver.received.filter(({ path }) => path === pathOf(made)).length, waiting).toBe(count);
    const { headers, body } = receiver.received.findLast(({ path }) => path === pathOf(made))!;
    const hex = createHmac("sha256", made.secrets).update(body).digest("hex");
    return Object.keys(headers).filter((name) => name.endsWith("-signature") && headers[name] === hex);
  };
  const own = ["x-spanway-signature", "x-svc-signature"];
  const former = ["x-respan-signature", "x-keywordsai-signature"];
  expect(new Set(await signedBy(1))).toEqual(new Set([...own, ...former]));
  // A PUT from a client that does not know the member leaves it on.
  const put = { url: made["url"], name: "Hook", event_type: "request_log" };
  await prod.request("PUT", `/api/webhooks/${made.id}/`, put);
  expect(new Set(await signedBy(2))).toEqual(new Set([...own, ...former]));
  await prod.request("PATCH", `/api/webhooks/${made.id}/`, { legacy_signatures: false });
  expect(new Set(await signedBy(3))).toEqual(new Set(own));
});

test("K17: ids of webhooks, alert channels and organizations reveal nothing about the number in other organizations", async () => {
  const numbers: number[] = [];
  const rule = { name: "A", metric: "error_count", window: "5m", operator: "gt", threshold: 1 };
  for (let n = 0; n < 6; n += 1) {
    const { prod } = await app.newOrganization();
    const made = await newWebhook(prod, { active: false });
    const channels = [{ type: "webhook", url: receiver.url }];
    const alert = bodyOf(await prod.post("/api/alerts/", { ...rule, channels })) as { channels: [{ id: number }] };
    numbers.push(made.id, Number(made["organization"]), alert.channels[0].id);
  }
  const sorted = numbers.toSorted((a, b) => a - b);
  const gaps = sorted.slice(1).map((number, at) => number - sorted[at]!);
  expect(sorted[0]).toBeGreaterThan(99_999_999);
  expect(gaps.filter((gap) => gap < 1_000)).toEqual([]);
  expect(numbers).not.toEqual(sorted);
});

test("K17: no other id in a response is a number, which could count what belongs to others", async () => {
  const document = (await app.prod.get("/openapi.json")).json as { components: { schemas: Row }; paths: Row };
  const found = new Set<string>();
  const collect = (schema: unknown, place: string): void => {
    if (Array.isArray(schema)) for (const each of schema) collect(each, place);
    if (typeof schema !== "object" || schema === null) return;
    for (const [name, value] of Object.entries(schema)) {
      if (name === "properties") {
        for (const [member, { type, anyOf }] of Object.entries(value as Record<string, Row>)) {
          const isNumber = /"(?:integer|number)"/.test(JSON.stringify([type, anyOf]));
          if (isNumber && /^(?:id|.*_id|channel|organization)$/.test(member)) found.add(`${place}.${member}`);
        }
      }
      collect(value, place);
    }
  };
  for (const [name, schema] of Object.entries(document.components.schemas)) collect(schema, name);
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const { responses } of Object.values(operations as Record<string, Row>)) collect(responses, path);
  }
  const ofOrganizations = [
    "/api/auth/me/.id",
    "/api/organizations/{unique_organization_id}/.id",
    "Customer.organization",
    "Webhook.organization",
  ];
  const ofWebhooks = [
    "/api/alerts/{id}/test/.channel",
    "/api/webhooks/{id}/rotate/.id",
    "AlertChannel.id",
    "AlertHistoryEntry.channel",
    "Webhook.id",
  ];
  // The caller's own.
  const sent = ["JsonRpcAnswer.id", "JsonRpcError.id"];
  expect(found).toEqual(new Set([...ofOrganizations, ...ofWebhooks, ...sent]));
});
