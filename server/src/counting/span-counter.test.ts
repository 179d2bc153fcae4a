import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { countUsage } from "../domain/count-usage.ts";
import { isSameCount, ownCount } from "../domain/usage-fact.ts";
import type { SpanRow } from "../domain/span.ts";
import { parseFilters } from "../filter/parse.ts";
import { createSpanCatalogue } from "../filter/span-fields.ts";
import { toClickHouse } from "../filter/to-clickhouse.ts";
import { createErasedCustomers } from "../ingest/accept/erased-customers.ts";
import { formatUuid, spanIdentity } from "../domain/identity.ts";
import { openSpanStore } from "../storage/spans/clickhouse-span-store.ts";
import type { SpanStore } from "../storage/spans/span-store.ts";
import { createRecompute } from "./recompute.ts";
import { createSpanCounter } from "./span-counter.ts";

const path = mkdtempSync(join(tmpdir(), "spanway-counting-"));
const signal = new AbortController().signal;
const always = { fromNs: 0n, toNs: 2n ** 62n };
let store: SpanStore;
beforeAll(async () => {
  store = openSpanStore({ kind: "chdb", path });
  await store.migrate();
});
afterAll(async () => {
  await store.close();
  rmSync(path, { recursive: true, force: true });
});

const catalogue = createSpanCatalogue();
const ids = ["a", "b", "c", "d", "e"];
const gatewayId = (trace: string) => formatUuid(spanIdentity({ ...scopeOf("x"), trace, span: "e" }));
const scopeOf = (organization_id: string) => ({ organization_id, environment: "prod" });

const anySpan = fc.record({
  trace: fc.constantFrom("t1", "t2"),
  id: fc.constantFrom(...ids),
  parent: fc.constantFrom("", "gone", ...ids),
  log_type: fc.constantFrom("chat", "agent", "tool"),
  tokens: fc.constantFrom(0, 5, 7),
  cost: fc.constantFrom(null, 0, 0.25, 0.5),
  isStated: fc.boolean(),
  response_id: fc.constantFrom("", "", "r1"),
  customer: fc.constantFrom("", "", "ann", "bob"),
  second: fc.nat(9),
});
type AnySpan = typeof anySpan extends fc.Arbitrary<infer T> ? T : never;

const sent = fc.record({ spans: fc.array(anySpan, { minLength: 1, maxLength: 4 }), to: fc.nat(1) });
const restarted = fc.constant({ restart: true as const });
const deleted = fc.record({ deleted: fc.constantFrom("t1", "t2"), until: fc.nat(9) });
const steps = fc.record({
  hasLinks: fc.boolean(),
  all: fc.array(fc.oneof({ weight: 6, arbitrary: sent }, restarted, deleted), { minLength: 1, maxLength: 7 }),
});

const timeAt = (second: number) => `2026-01-01 00:00:0${second}.000000000`;
const nsAt = (second: number) => BigInt(Date.UTC(2026, 0, 1, 0, 0, second)) * 1_000_000n;

/** An organization that receives spans. `isShared`: as one of several nodes, which remembers nothing. */
function newOrganization({ isShared, hasLinks }: { isShared: boolean; hasLinks: boolean }) {
  const organizationId = `org_${randomUUID()}`;
  const placed = new Map<string, string>();
  /** What each of the two nodes remembers having accepted. */
  const accepted = [new Map<string, string>(), new Map<string, string>()] as const;
  const deletedUntil = new Map<string, string>();
  let version = 1n;
  const newCounter = (hasHistory: boolean) =>
    createSpanCounter({
      store,
      memory: { isComplete: !isShared, hasHistory, mayHaveEarlier: () => true },
      erasedCustomers: createErasedCustomers(),
      now: Date.now,
    });
  let counter = newCounter(false);

  const rowOf = ({ trace, id, parent, tokens, cost, isStated, customer, second, ...fields }: AnySpan): SpanRow => ({
    ...scopeOf(organizationId),
    environment: "prod",
    ...fields,
    unique_id: formatUuid(spanIdentity({ ...scopeOf("x"), trace, span: id })),
    trace_unique_id: trace,
    span_unique_id: id,
    span_parent_id: parent,
    timestamp: timeAt(second),
    start_time: timeAt(0),
    received_at: timeAt(0),
    version: (version += 1n).toString(),
    // The last span of each trace is the gateway's. The one before it names the gateway span of the other trace.
    log_method: id === "e" ? "gateway" : "",
    gateway_log_id: hasLinks && id === "d" ? gatewayId(trace === "t1" ? "t2" : "t1") : "",
    model: "m",
    input: "in",
    total_tokens: tokens,
    prompt_tokens: tokens,
    completion_tokens: 0,
    cost,
    cost_source: cost === null ? "" : isStated ? "stated" : "computed",
    customer_identifier: customer,
  });
  return {
    organizationId,
    send: async (spans: readonly AnySpan[], to = 0) => {
      const known = accepted[isShared && to === 1 ? 1 : 0];
      // Like the intake: spans that were deleted, by their time or that of an earlier version, stay deleted.
      const rows = spans.map(rowOf).filter(({ trace_unique_id: trace = "", timestamp, unique_id }) => {
        const until = deletedUntil.get(trace);
        return until === undefined || (timestamp > until && (placed.get(unique_id) ?? timestamp) > until);
      });
      const lines = rows.flatMap((row) => {
        const before = known.get(row.unique_id);
        known.set(row.unique_id, row.timestamp);
        placed.set(row.unique_id, row.timestamp);
        const isMoved = before !== undefined && before !== row.timestamp;
        return isMoved ? [row, { ...row, timestamp: before, is_deleted: 1 }] : [row];
      });
      const ndjson = Buffer.from(lines.map((row) => `${JSON.stringify({ is_resend: 1, ...row })}\n`).join(""));
      await store.insert({ ndjson, rows: lines.length, token: randomUUID(), hasResends: true });
      await counter.consume([{ organizationId, rows }], signal);
    },
    restart: () => void (counter = newCounter(true)),
    remove: async (trace_unique_id: string, until: number) => {
      const deletion = { organization_id: organizationId, environment: "prod", trace_unique_id } as const;
      const end = timeAt(until);
      if (end > (deletedUntil.get(trace_unique_id) ?? "")) deletedUntil.set(trace_unique_id, end);
      const linked = await counter.linkedTo(organizationId, [deletion]);
      await store.deleteTraces([{ ...deletion, fromNs: 0n, toNs: nsAt(until), deletedAtMs: 0 }]);
      await counter.recount(organizationId, [deletion, ...linked]);
    },
  };
}

/** The stored counts of an organization must match what the function computes from its current spans. */
async function expectCounted(organizationId: string): Promise<void> {
  const { facts, counts } = await store.readUsageFacts({ organizationId, by: "trace_unique_id", ids: ["t1", "t2"] });
  expect(facts.length).toBe(new Set(facts.map(({ unique_id }) => unique_id)).size);
  const traces = Map.groupBy(facts, ({ trace_unique_id }) => trace_unique_id);
  const isGateway = new Set(facts.filter((fact) => fact.is_gateway).map((fact) => fact.unique_id));
  const reported = new Map<string, { customer_identifier: string; thread_identifier: string }>();
  let expected = new Map<string, ReturnType<typeof ownCount>>();
  for (let pass = 0; pass < 4; pass += 1) {
    expected = new Map();
    for (const own of traces.values()) {
      const here = new Set(own.map((fact) => fact.unique_id));
      const found = countUsage(own, {
        isGatewayCall: (id) => isGateway.has(id) && !here.has(id),
        reporter: (id) => reported.get(id),
      });
      for (const [index, fact] of own.entries()) {
        expected.set(`${fact.timestamp} ${fact.unique_id}`, found[index]!);
        if (fact.gateway_log_id !== "" && isGateway.has(fact.gateway_log_id) && !here.has(fact.gateway_log_id))
          if (!reported.has(fact.gateway_log_id)) reported.set(fact.gateway_log_id, found[index]!);
      }
    }
  }
  const different = facts.filter(
    (fact) => !isSameCount(expected.get(`${fact.timestamp} ${fact.unique_id}`)!, ownCount(fact)),
  );
  expect(counts.map(({ timestamp, unique_id }) => `${timestamp} ${unique_id}`).toSorted()).toEqual(
    different.map((fact) => `${fact.timestamp} ${fact.unique_id}`).toSorted(),
  );
  for (const { timestamp, unique_id, count } of counts) {
    expect({ cost: count.cost, counts_tokens: count.counts_tokens }).toEqual({
      cost: expected.get(`${timestamp} ${unique_id}`)?.cost,
      counts_tokens: expected.get(`${timestamp} ${unique_id}`)?.counts_tokens,
    });
  }
  await expectSums(organizationId);
}

/** Rows add up to the summary, and so do groups and the parts of a window. */
async function expectSums(organizationId: string): Promise<void> {
  const scope = { organization_id: organizationId };
  const whole = await store.summarizeSpans({ scope, window: always });
  const { rows } = await store.listSpans({
    scope,
    window: always,
    sort: { field: "timestamp", descending: false },
    page: 1,
    pageSize: 100,
    fields: ["counted_cost", "counted_tokens", "counted_customer_identifier"],
  });
  const cents = (cost: number) => Math.round(cost * 100);
  const sums = (all: ReadonlyArray<{ total_cost: number; total_tokens: number }>) => [
    cents(all.reduce((sum, each) => sum + each.total_cost, 0)),
    all.reduce((sum, each) => sum + each.total_tokens, 0),
  ];
  const total = sums([whole]);
  const counted = rows.map((row) => ({
    total_cost: row.counted_cost ?? 0,
    total_tokens: Number(row.counted_tokens ?? 0),
  }));
  expect(sums(counted)).toEqual(total);
  const parts = [];
  for (const [from, to] of [
    [0n, nsAt(4)],
    [nsAt(4) + 1n, always.toNs],
  ] as const) {
    parts.push(await store.summarizeSpans({ scope, window: { fromNs: from, toNs: to } }));
  }
  expect(sums(parts)).toEqual(total);
  const sort = { field: "total_cost", descending: true } as const;
  const query = { scope, window: always, groupBy: ["customer_identifier"], sort, page: 1, pageSize: 100 } as const;
  const groups = (await store.groupSpans(query)).rows;
  expect(sums(groups)).toEqual(total);
  const names = new Set(rows.map((row) => row.counted_customer_identifier));
  expect(new Set(groups.map(({ key }) => key["customer_identifier"]))).toEqual(names);
  expect(whole.number_of_customers).toBe([...names].filter((name) => name !== "").length);
  const described = await store.describeCustomers({ scope, identifiers: ["ann", "bob"] });
  for (const { customer_identifier: name, total_cost, number_of_requests } of described) {
    const ofName = groups.find(({ key }) => key["customer_identifier"] === name);
    expect([cents(total_cost), number_of_requests]).toEqual([cents(ofName?.total_cost ?? 0), ofName?.span_count]);
  }
  for (const name of ["ann", "bob"]) {
    const filter = toClickHouse(parseFilters({ customer_identifier: name }, catalogue).filter, catalogue);
    const filtered = await store.summarizeSpans({ scope, window: always, filter });
    const ofName = groups.filter(({ key }) => key["customer_identifier"] === name);
    expect(sums([filtered])).toEqual(sums(ofName));
    expect(filtered.number_of_requests).toBe(ofName[0]?.span_count ?? 0);
  }
}

test.each([
  ["one node", false],
  ["a node of several", true],
])(
  "M7: whatever comes, in whatever order, %s stores what the function says, and rows add up to sums",
  async (_, isShared) => {
    await fc.assert(
      fc.asyncProperty(steps, async ({ hasLinks, all }) => {
        const { organizationId, send, restart, remove } = newOrganization({ isShared, hasLinks });
        for (const each of all) {
          if ("spans" in each) await send(each.spans, each.to);
          else if ("restart" in each) restart();
          else await remove(each.deleted, each.until);
        }
        await expectCounted(organizationId);
      }),
      { numRuns: 12, endOnFailure: true },
    );
  },
  120_000,
);

test("recomputing restores lost counts and removes wrong ones", async () => {
  const { organizationId, send } = newOrganization({ isShared: true, hasLinks: false });
  const call = {
    trace: "t1",
    log_type: "chat",
    tokens: 5,
    isStated: false,
    response_id: "",
    names: "",
    second: 1,
  } as const;
  await send([
    { ...call, id: "a", parent: "", log_type: "agent", cost: 0.5, customer: "ann" },
    { ...call, id: "b", parent: "a", cost: 0.25, customer: "" },
  ]);
  const rows = await store.readUsageFacts({ organizationId, by: "trace_unique_id", ids: ["t1"] });
  const tombstones = rows.counts.map(({ timestamp, unique_id, trace_unique_id }) => ({
    ...scopeOf(organizationId),
    timestamp,
    unique_id,
    trace_unique_id,
    version: (BigInt(Date.now() + 1) * 1_000_000n).toString(),
    is_deleted: 1,
  }));
  const ndjson = Buffer.from(tombstones.map((row) => `${JSON.stringify(row)}\n`).join(""));
  await store.insert({ ndjson, rows: tombstones.length, token: randomUUID(), table: "span_counts" });
  const scope = { organization_id: organizationId };
  expect(await store.summarizeSpans({ scope, window: always })).toMatchObject({ total_cost: 0.75 });
  const recompute = createRecompute(
    (use) => use(store),
    async () => createErasedCustomers(),
    () => Date.now() + 10,
  );
  expect(await recompute([organizationId])).toBe(1);
  expect(await store.summarizeSpans({ scope, window: always })).toMatchObject({ total_cost: 0.25, total_tokens: 5 });
});

/** A gateway call without a trace, and the SDK span that names it. */
function reportedCall(organizationId: string) {
  const call = {
    ...scopeOf(organizationId),
    environment: "prod",
    timestamp: timeAt(1),
    start_time: timeAt(0),
    received_at: timeAt(0),
    version: "1",
    log_type: "chat",
    total_tokens: 5,
    cost: 0.25,
    cost_source: "computed",
  } as const;
  const gateways = { ...call, unique_id: randomUUID(), log_method: "gateway" };
  const reported = { ...call, unique_id: randomUUID(), trace_unique_id: "t1", gateway_log_id: gateways.unique_id };
  return { gateways, reported };
}

const newNode = (memory: { isComplete: boolean; hasHistory: boolean }) =>
  createSpanCounter({
    store,
    memory: { ...memory, mayHaveEarlier: () => true },
    erasedCustomers: createErasedCustomers(),
    now: Date.now,
  });

async function storeRow(row: SpanRow): Promise<void> {
  await store.insert({ ndjson: Buffer.from(`${JSON.stringify(row)}\n`), rows: 1, token: randomUUID() });
}

test("M5: a call is matched if another node stores it after the span that names it was counted", async () => {
  const organizationId = `org_${randomUUID()}`;
  const shared = { isComplete: false, hasHistory: true };
  const [one, other] = [newNode(shared), newNode(shared)];
  const { gateways, reported } = reportedCall(organizationId);
  const take = async (node: typeof one, row: SpanRow) => {
    await storeRow(row);
    // As the fan-out does: rows that do not concern it are not passed.
    if (node.concerns?.(row) === true) await node.consume([{ organizationId, rows: [row] }], signal);
  };
  await take(one, reported);
  await take(other, gateways);
  const scope = { organization_id: organizationId };
  expect(await store.summarizeSpans({ scope, window: always })).toMatchObject({ total_cost: 0.25, total_tokens: 5 });
});

test("M5: a call is matched if it is accepted before such a span is counted, and stored afterwards", async () => {
  const organizationId = `org_${randomUUID()}`;
  const node = newNode({ isComplete: true, hasHistory: false });
  const { gateways, reported } = reportedCall(organizationId);
  // As the fan-out does at acceptance.
  const accepted = [reported, gateways].map((row) => {
    node.accepted?.([row]);
    return { row, isConcerned: node.concerns?.(row) === true };
  });
  for (const { row, isConcerned } of accepted) {
    await storeRow(row);
    if (isConcerned) await node.consume([{ organizationId, rows: [row] }], signal);
  }
  const scope = { organization_id: organizationId };
  expect(await store.summarizeSpans({ scope, window: always })).toMatchObject({ total_cost: 0.25, total_tokens: 5 });
});
