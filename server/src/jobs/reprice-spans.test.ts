import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSpanCounter } from "../counting/span-counter.ts";
import { createSpendCorrections } from "../customers/spend-corrections.ts";
import { createErasedCustomers } from "../ingest/accept/erased-customers.ts";
import { openMemoryControl } from "../../test/support/memory-control.ts";
import { jobsLimits } from "./limits.ts";
import { createPriceBook } from "../pricing/price-book.ts";
import type { ControlStores } from "../storage/control/control-stores.ts";
import { openSpanStore } from "../storage/spans/clickhouse-span-store.ts";
import type { SpanStore } from "../storage/spans/span-store.ts";
import { createRepricing, type OwnSelection } from "./reprice-spans.ts";

const path = mkdtempSync(join(tmpdir(), "spanway-repricing-"));
const { signal } = new AbortController();
let store: SpanStore;
let stores: ControlStores;
let closeStores: () => Promise<void>;
beforeAll(async () => {
  store = openSpanStore({ kind: "chdb", path });
  await store.migrate();
  ({ stores, close: closeStores } = await openMemoryControl());
});
afterAll(async () => {
  await Promise.all([store.close(), closeStores()]);
  rmSync(path, { recursive: true, force: true });
});

const newRepricing = (spans: SpanStore) => {
  const memory = { isComplete: false, hasHistory: true, mayHaveEarlier: () => true };
  return createRepricing({
    spans,
    prices: createPriceBook({ maxModels: 10 }),
    counter: createSpanCounter({ store, memory, erasedCustomers: createErasedCustomers(), now: Date.now }),
    corrections: createSpendCorrections({ stores, spans: store }),
    leases: stores.leases,
    now: Date.now,
  });
};

const selectionOf = (organization_id: string): OwnSelection => ({
  scope: { organization_id, environment: "prod" },
  window: { fromNs: 0n, toNs: 2n ** 62n },
});

async function insertCalls(organization_id: string, count: number): Promise<object[]> {
  const rows = Array.from({ length: count }, (_, at) => ({
    organization_id,
    environment: "prod",
    unique_id: randomUUID(),
    timestamp: `2026-05-05 05:05:${String(at % 60).padStart(2, "0")}.000000000`,
    version: "1000",
    log_type: "chat",
    model: "gpt-4o",
    prompt_tokens: 1_000_000,
    completion_tokens: 0,
    total_tokens: 1_000_000,
    cost: 1,
    cost_source: "computed",
    price_version: "an older table",
  }));
  const ndjson = Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  await store.insert({ ndjson, rows: rows.length, token: randomUUID() });
  return rows;
}
const totalOf = async (organization_id: string) => {
  const { number_of_requests, total_cost } = await store.summarizeSpans(selectionOf(organization_id));
  return [number_of_requests, total_cost];
};

test("M15: an aborted run does the rest when it is run again", async () => {
  const org = `org_${randomUUID()}`;
  const count = jobsLimits.repricedPage + 500;
  await insertCalls(org, count);
  let calls = 0;
  const failing: SpanStore = {
    ...store,
    repriceSpans: async (...args) => {
      if ((calls += 1) === 2) throw new Error("the process died");
      await store.repriceSpans(...args);
    },
  };
  const broken = newRepricing(failing);
  const plan = await broken.plan(selectionOf(org), signal);
  expect([plan.changes.length, plan.stoppedAt]).toEqual([count, undefined]);
  await expect(broken.reprice(selectionOf(org), signal)).rejects.toThrow("the process died");
  expect(await totalOf(org)).toEqual([count, jobsLimits.repricedPage * 2.5 + 500]);

  const again = newRepricing(store);
  const rest = await again.reprice(selectionOf(org), signal);
  expect(rest.changes.length).toBe(500);
  expect(await totalOf(org)).toEqual([count, count * 2.5]);
  expect((await again.plan(selectionOf(org), signal)).changes).toEqual([]);
});

test("M15: spans that were resent or deleted since the plan stay as they are", async () => {
  const org = `org_${randomUUID()}`;
  const [again, deleted] = await insertCalls(org, 2);
  const newer = [
    { ...again, version: "2000", cost: 7, is_resend: 1 },
    { ...deleted, version: "3000", is_deleted: 1, is_resend: 1 },
  ];
  const ndjson = Buffer.from(newer.map((row) => `${JSON.stringify(row)}\n`).join(""));
  const outrun = newRepricing({
    ...store,
    repriceSpans: async (...args) => {
      await store.insert({ ndjson, rows: 2, token: randomUUID(), hasResends: true });
      await store.repriceSpans(...args);
    },
  });
  expect((await outrun.reprice(selectionOf(org), signal)).changes.length).toBe(2);
  expect(await totalOf(org)).toEqual([1, 7]);
});

test("M15: spans of an organization are repriced by one run at a time", async () => {
  const [org, other] = [`org_${randomUUID()}`, `org_${randomUUID()}`];
  await Promise.all([insertCalls(org, 2), insertCalls(other, 3)]);
  const refused = { code: "conflict", message: expect.stringContaining("repricing logs of this organization") };
  const during: Array<() => Promise<unknown>> = [
    () => expect(newRepricing(store).reprice(selectionOf(org), signal)).rejects.toMatchObject(refused),
    async () => expect((await newRepricing(store).reprice(selectionOf(other), signal)).changes.length).toBe(3),
    async () => expect((await newRepricing(store).plan(selectionOf(org), signal)).changes.length).toBe(2),
  ];
  const slow = newRepricing({
    ...store,
    repriceSpans: async (...args) => {
      for (const each of during) await each();
      await store.repriceSpans(...args);
    },
  });
  await slow.reprice(selectionOf(org), signal);
  expect(await totalOf(org)).toEqual([2, 5]);
  expect(await totalOf(other)).toEqual([3, 7.5]);
  expect((await newRepricing(store).reprice(selectionOf(org), signal)).changes).toEqual([]);
});
