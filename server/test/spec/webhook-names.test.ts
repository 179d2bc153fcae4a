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

test("K17: ids of webhooks, deliveries and organizations reveal nothing about the number in other organizations", async () => {
  const numbers: number[] = [];
  for (let n = 0; n < 6; n += 1) {
    const { prod } = await app.newOrganization();
    const made = await newWebhook(prod, { active: false });
    numbers.push(made.id, Number(made["organization"]));
  }
  const sorted = numbers.toSorted((a, b) => a - b);
  const gaps = sorted.slice(1).map((number, at) => number - sorted[at]!);
  expect(sorted[0]).toBeGreaterThan(99_999_999);
  expect(gaps.filter((gap) => gap < 1_000)).toEqual([]);
  expect(numbers).not.toEqual(sorted);
});
