import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { formatUuid, spanIdentity } from "../domain/identity.ts";
import type { SpanRow } from "../domain/span.ts";
import { createErasedCustomers } from "../ingest/accept/erased-customers.ts";
import { storedTime } from "../lib/time.ts";
import { openSpanStore } from "../storage/spans/clickhouse-span-store.ts";
import type { SpanStore } from "../storage/spans/span-store.ts";
import { createSpanSettler } from "./settle-spans.ts";
import { createSpanCounter } from "./span-counter.ts";

const path = mkdtempSync(join(tmpdir(), "spanway-settling-"));
const signal = new AbortController().signal;
const window = { fromNs: 0n, toNs: 2n ** 62n };
let store: SpanStore;
beforeAll(async () => {
  store = openSpanStore({ kind: "chdb", path });
  await store.migrate();
});
afterAll(async () => {
  await store.close();
  rmSync(path, { recursive: true, force: true });
});

test("two versions that no node saw together, as with a late replica, become one span a while later", async () => {
  const memory = { isComplete: false, hasHistory: true, mayHaveEarlier: () => true };
  const counter = createSpanCounter({ store, memory, erasedCustomers: createErasedCustomers(), now: Date.now });
  const settler = createSpanSettler({ spans: store, counter });
  const organization_id = `org_${randomUUID()}`;
  const versions = (members: object) => {
    const span = { is_resend: 1, organization_id, environment: "prod", unique_id: randomUUID(), ...members };
    return [1, 2].map((second) => ({
      ...span,
      timestamp: `2026-01-01 00:00:0${second}.000000000`,
      version: String(second),
      cost: second,
      total_tokens: 5,
    }));
  };
  const rows = [
    ...versions({}),
    ...versions({ trace_unique_id: "a", span_unique_id: "root", log_type: "agent", cost_source: "stated" }),
    ...versions({ trace_unique_id: "a", span_unique_id: "1", span_parent_id: "root", log_type: "chat" }),
  ];
  const ndjson = Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  await store.insert({ ndjson, rows: rows.length, token: randomUUID(), hasResends: true });
  const summary = () => store.summarizeSpans({ scope: { organization_id }, window });
  expect(await summary()).toMatchObject({ number_of_requests: 6, total_cost: 9 });
  for (let time = 0; time < 2; time += 1) {
    await settler.settleRecent(signal);
    // The call in the trace counts once: its wrapper does not count again.
    expect(await summary()).toMatchObject({ number_of_requests: 3, total_cost: 4, total_tokens: 10 });
  }
});

test("a keyed span that another node received long before becomes one span a while later", async () => {
  const memory = { isComplete: false, hasHistory: true, mayHaveEarlier: () => true };
  const counter = createSpanCounter({ store, memory, erasedCustomers: createErasedCustomers(), now: Date.now });
  const settler = createSpanSettler({ spans: store, counter });
  const organization_id = `org_${randomUUID()}`;
  const identity = spanIdentity({ organization_id, environment: "prod", trace: "", span: randomUUID() });
  const version = (msAgo: number): SpanRow => {
    const at = storedTime(BigInt(Date.now() - msAgo) * 1_000_000n);
    const key = { organization_id, environment: "prod", unique_id: formatUuid(identity) } as const;
    return { ...key, timestamp: at, received_at: at, version: String(10_000_000 - msAgo) };
  };
  const storeRow = async (row: SpanRow) => {
    const ndjson = Buffer.from(`${JSON.stringify({ is_resend: 1, ...row })}\n`);
    await store.insert({ ndjson, rows: 1, token: randomUUID(), hasResends: true });
    await settler.subscriber.consume([{ organizationId: organization_id, rows: [row] }], signal);
  };
  const count = async () => (await store.summarizeSpans({ scope: { organization_id }, window })).number_of_requests;
  await storeRow(version(3_600_000));
  // Within two minutes of each other: at once.
  await storeRow(version(3_590_000));
  expect(await count()).toBe(1);
  await storeRow(version(0));
  expect(await count()).toBe(2);
  await settler.settleRecent(signal);
  expect(await count()).toBe(1);
});
