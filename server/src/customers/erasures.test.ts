import { randomUUID } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { controlUp } from "../../test/support/control-up.ts";
import { openMemoryControl } from "../../test/support/memory-control.ts";
import type { CustomerKey } from "../domain/customer.ts";
import { createSpanCounter } from "../counting/span-counter.ts";
import { createErasedCustomers } from "../ingest/accept/erased-customers.ts";
import { customersLimits } from "./limits.ts";
import { openSpanStore } from "../storage/spans/clickhouse-span-store.ts";
import type { SpanStore } from "../storage/spans/span-store.ts";
import { storedTime } from "../lib/time.ts";
import type { CustomerReplicator } from "./customer-replicator.ts";
import { createCustomerErasures, loadErasedCustomers } from "./erasures.ts";
import { createCustomerProfiles } from "./profiles.ts";

/** M11 with several nodes: each has its own memory, over the same stores. */

const path = mkdtempSync(join(tmpdir(), "spanway-erasures-"));
const organization_id = `org_${randomUUID()}`;
const signal = new AbortController().signal;
const settle = () => Promise.resolve();
let nowMs = Date.parse("2026-05-05T12:00:00Z");
const now = () => nowMs;
let spans: SpanStore;
let control: Awaited<ReturnType<typeof openMemoryControl>>;

beforeAll(async () => {
  spans = openSpanStore({ kind: "chdb", path });
  await spans.migrate();
  control = await openMemoryControl();
  await control.stores.organizations.create({
    unique_organization_id: organization_id,
    name: "Acme",
    retention_days: null,
    created_at: new Date(nowMs).toISOString(),
  });
});
afterAll(async () => {
  await spans.close();
  await control.close();
  await rm(path, { recursive: true, force: true });
});

type Replicator = Pick<CustomerReplicator, "remove">;

function newNode(replicator: Replicator = { remove: () => Promise.resolve() }, aheadMs = 0) {
  const { stores } = control;
  const clock = () => now() + aheadMs;
  const erasedCustomers = createErasedCustomers();
  const profiles = createCustomerProfiles({
    customers: stores.customers,
    control: controlUp(),
    erasedCustomers,
    changed: () => undefined,
    now: clock,
  });
  const memory = { isComplete: false, hasHistory: true, mayHaveEarlier: () => true };
  const erasures = createCustomerErasures({
    erasedCustomers,
    stores,
    spans,
    counter: createSpanCounter({ store: spans, memory, erasedCustomers, now }),
    replicator,
    profiles,
    evict: (key) => profiles.evict(key),
    eraseCopies: () => Promise.resolve(),
    now: clock,
  });
  return { erasedCustomers, profiles, erasures };
}

const keyOf = (customer_identifier: string): CustomerKey => ({
  organization_id,
  environment: "prod",
  customer_identifier,
});

async function store(customer_identifier: string, atMs: number, receivedMs: number): Promise<string> {
  const unique_id = randomUUID();
  const times = {
    timestamp: storedTime(BigInt(atMs) * 1_000_000n),
    received_at: storedTime(BigInt(receivedMs) * 1_000_000n),
  };
  const row = { organization_id, environment: "prod", ...times, version: "1", unique_id, customer_identifier };
  await spans.insert({ ndjson: Buffer.from(`${JSON.stringify(row)}\n`), rows: 1, token: randomUUID() });
  return unique_id;
}

const customersOf = async (ids: readonly string[]) => {
  const rows = await Promise.all(ids.map((id) => spans.retrieveSpan({ organization_id }, id)));
  return rows.map((row) => row?.customer_identifier);
};

test("M11: a node that did not know of a deletion repeats it, and leaves new data alone", async () => {
  const [own, other] = [newNode(), newNode()];
  const [ann, erasedAtMs] = [keyOf("ann"), nowMs];
  const old = await store("ann", nowMs - 1_000, nowMs - 500);
  await own.erasures.erase(ann, settle);
  expect(await customersOf([old])).toEqual([""]);

  // The other node accepts an older span and a new one, and creates the customer of the first.
  nowMs += 1_000;
  const late = await store("ann", erasedAtMs - 1_000, nowMs);
  const fresh = await store("ann", nowMs, nowMs);
  await other.profiles.observe(ann, { name: "Ann" }, new Date(erasedAtMs - 1_000).toISOString());
  await other.erasures.sweep(settle, signal);
  expect(await customersOf([late, fresh])).toEqual(["", "ann"]);
  expect(await other.profiles.find(ann)).toBeUndefined();
  expect(other.erasedCustomers.erasedAtNs(ann)).toBe(own.erasedCustomers.erasedAtNs(ann));

  // The new customer stays, also while the deletion is repeated.
  await other.profiles.observe(ann, { name: "New" }, new Date(nowMs).toISOString());
  for (let sweeps = 0; sweeps < 200; sweeps += 1) {
    nowMs += 2_000;
    await other.erasures.sweep(settle, signal);
  }
  expect(await other.profiles.find(ann)).toMatchObject({ name: "New" });
  expect(await customersOf([late, fresh])).toEqual(["", "ann"]);
});

test("M11: spans that a dead node had accepted are found by a repeated deletion, within minutes", async () => {
  const own = newNode();
  const bob = keyOf("bob");
  const erasedAtMs = nowMs;
  await own.erasures.erase(bob, settle);
  nowMs += 20_000;
  const late = await store("bob", erasedAtMs - 5, erasedAtMs - 1);
  nowMs += 15_000;
  await own.erasures.sweep(settle, signal);
  expect(await customersOf([late])).toEqual([""]);
});

test("M11: the copy of a customer that another node changes during the deletion is removed too", async () => {
  const zoe = keyOf("zoe");
  const other = newNode();
  const removed: string[] = [];
  const own = newNode({
    remove: async ({ updated_at }) => {
      if (removed.push(updated_at) === 1) await other.profiles.edit(zoe, { email: "zoe@example.com" });
    },
  });
  await other.profiles.create(zoe);
  const before = (await other.profiles.find(zoe))?.updated_at;
  nowMs += 1_000;
  await own.erasures.erase(zoe, settle);
  expect(removed).toEqual([before, new Date(nowMs).toISOString()]);
  expect(await own.profiles.find(zoe)).toBeUndefined();
});

test("M11: a customer made anew has a higher version than the removed copy, also on a node whose clock is behind", async () => {
  const max = keyOf("max");
  const removed: string[] = [];
  const remove = async ({ updated_at }: { updated_at: string }) => void removed.push(updated_at);
  const [ahead, own, behind] = [newNode({ remove }, 400), newNode({ remove }), newNode({ remove }, -400)];
  await ahead.profiles.create(max);
  await ahead.profiles.edit(max, { name: "Max" });
  nowMs += 10;
  await own.erasures.erase(max, settle);
  await behind.erasures.sweep(settle, signal);
  nowMs += 10;
  for (const create of [
    () => behind.profiles.create(max),
    () => behind.profiles.observe(max, { name: "New" }),
    () => behind.profiles.observeAll([{ key: max, stated: {}, firstSeen: new Date(nowMs).toISOString() }]),
  ]) {
    await create();
    const made = await behind.profiles.find(max);
    expect(made!.updated_at > removed.toSorted().at(-1)!).toBe(true);
    await behind.erasures.erase(max, settle);
  }
  nowMs += 1_000;
});

test("M11: the name of a deleted customer is stored for a day, its fingerprint permanently", async () => {
  const own = newNode();
  const eve = keyOf("eve");
  await own.erasures.erase(eve, settle);
  const names = async () => {
    const { erasures } = await control.stores.customerErasures.list("");
    return erasures.map(({ customer_identifier }) => customer_identifier);
  };
  await own.erasures.deleteNames();
  expect(await names()).toContain("eve");
  nowMs += customersLimits.erasedNameMs + 1;
  await own.erasures.deleteNames();
  expect(new Set(await names())).toEqual(new Set([undefined]));
  const restarted = await loadErasedCustomers(control.stores.customerErasures);
  expect(restarted.erasedAtNs(eve)).toBe(own.erasedCustomers.erasedAtNs(eve));
  expect(restarted.erasedAtNs(keyOf("nobody"))).toBeUndefined();
});
