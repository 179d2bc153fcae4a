import { randomUUID } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { openMemoryControl } from "../../test/support/memory-control.ts";
import type { TraceDeletion } from "../domain/trace.ts";
import { createSpanCounter } from "../counting/span-counter.ts";
import { createDeletedTraces, type DeletedTraces } from "../ingest/accept/deleted-traces.ts";
import { createErasedCustomers } from "../ingest/accept/erased-customers.ts";
import { domainLimits } from "../domain/limits.ts";
import { jobsLimits } from "./limits.ts";
import { openEmbeddedDatabase } from "../storage/spans/drivers/embedded-database.ts";
import { openSpanStore } from "../storage/spans/clickhouse-span-store.ts";
import type { SpanDatabase } from "../storage/spans/drivers/span-database.ts";
import type { SpanStore } from "../storage/spans/span-store.ts";
import type { Leader } from "./leader.ts";
import { loadTraceDeletions, startTraceDeletions, type TraceDeletions } from "./trace-deletions.ts";

/** Two nodes over one span store and one control store, with a clock that the tests move. */
const clock = { ms: Date.now() };
const now = () => clock.ms;
const path = mkdtempSync(join(tmpdir(), "spanway-deletions-"));
const organizationId = `org_${randomUUID()}`;
const logger = pino({ level: "silent" });
const neverAborted = new AbortController().signal;

let spans: SpanStore;
let database: SpanDatabase;
let control: Awaited<ReturnType<typeof openMemoryControl>>;
let own: Node;
let other: Node;

type Node = { deletedTraces: DeletedTraces; traceDeletions: TraceDeletions; stop: () => Promise<void> };

function startNode(): Node {
  const deletedTraces = createDeletedTraces(now);
  const eraseCopies = () => Promise.resolve();
  const flush = () => Promise.resolve();
  const memory = { isComplete: false, hasHistory: true, mayHaveEarlier: () => true };
  const counter = createSpanCounter({ store: spans, memory, erasedCustomers: createErasedCustomers(), now });
  const deps = {
    deletions: control.stores.traceDeletions,
    deletedTraces,
    spans,
    counter,
    eraseCopies,
    flush,
    now,
  };
  const leader: Pick<Leader, "lead"> = { lead: (signal, work) => work(signal) };
  return { deletedTraces, ...startTraceDeletions(deps, { leader, logger }) };
}

beforeAll(async () => {
  spans = openSpanStore({ kind: "chdb", path });
  database = openEmbeddedDatabase(path);
  await spans.migrate();
  control = await openMemoryControl();
  const created_at = new Date().toISOString();
  await control.stores.organizations.create({
    unique_organization_id: organizationId,
    name: "Acme",
    retention_days: null,
    created_at,
  });
  [own, other] = [startNode(), startNode()];
});
afterAll(async () => {
  await Promise.all([own.stop(), other.stop()]);
  await spans.close();
  await database.close();
  await control.close();
  await rm(path, { recursive: true, force: true });
});

const timestamp = "2026-05-05 05:05:05.000000000";
const atNs = BigInt(Date.UTC(2026, 4, 5, 5, 5, 5)) * 1_000_000n;

function deletionOf(trace: string): TraceDeletion {
  return {
    organization_id: organizationId,
    environment: "prod",
    trace_unique_id: trace,
    fromNs: atNs,
    toNs: atNs + 1n,
    deletedAtMs: now(),
  };
}

async function store(trace: string): Promise<void> {
  const row = { organization_id: organizationId, environment: "prod", timestamp, version: "1", trace_unique_id: trace };
  const ndjson = Buffer.from(`${JSON.stringify({ ...row, unique_id: randomUUID(), input: "payload" })}\n`);
  await spans.insert({ ndjson, rows: 1, token: randomUUID() });
}

const visible = async (trace: string) =>
  (await spans.retrieveTraces({ organization_id: organizationId }, trace))[0]?.span_count ?? 0;

/** Rows in the table, visible or not. */
async function rowsOf(trace: string): Promise<{ payload: number; tombstones: number }> {
  const { rows } = await database.query({
    name: "count",
    sql: "SELECT countIf(is_deleted = 0) AS payload, countIf(is_deleted = 1) AS tombstones FROM spans WHERE trace_unique_id = {trace:String}",
    params: { trace },
  });
  return { payload: Number(rows[0]?.["payload"]), tombstones: Number(rows[0]?.["tombstones"]) };
}

test("a deleted trace disappears, and stays deleted when it is deleted again", async () => {
  await store("t1");
  expect(await visible("t1")).toBe(1);
  for (let n = 0; n < 2; n += 1) {
    await own.traceDeletions.delete([deletionOf("t1")]);
    expect(await visible("t1")).toBe(0);
  }
});

test("another node learns of a deletion, and so does one that starts later", async () => {
  await own.traceDeletions.delete([deletionOf("t2")]);
  const trace = deletionOf("t2");
  await other.traceDeletions.sweep(neverAborted);
  expect(other.deletedTraces.covers(trace, atNs)).toBe(true);

  const restarted = createDeletedTraces(now);
  await loadTraceDeletions({ deletions: control.stores.traceDeletions, deletedTraces: restarted, now });
  expect(restarted.covers(trace, atNs)).toBe(true);
  expect(restarted.covers(trace, atNs + 2n)).toBe(false);
  expect(restarted.covers({ ...trace, environment: "test" }, atNs)).toBe(false);
  expect(restarted.covers({ ...trace, organization_id: "another" }, atNs)).toBe(false);
  expect(restarted.covers({ ...trace, trace_unique_id: "t22" }, atNs)).toBe(false);
});

test("the sweep deletes spans that another node stores late", async () => {
  await own.traceDeletions.sweep(neverAborted);
  await own.traceDeletions.delete([deletionOf("t3")]);
  await store("t3");
  expect(await visible("t3")).toBe(1);
  clock.ms += 4_000;
  await own.traceDeletions.sweep(neverAborted);
  expect(await visible("t3")).toBe(0);
});

test("the payload leaves the disk first and its tombstones a day later; then it can be sent again", async () => {
  await store("t4");
  await store("kept");
  await own.traceDeletions.delete([deletionOf("t4")]);
  const purged = async (wanted: object) => {
    await vi.waitFor(
      async () => {
        await own.traceDeletions.purge(neverAborted);
        expect(await rowsOf("t4")).toEqual(wanted);
      },
      { timeout: 20_000, interval: 200 },
    );
  };
  await purged({ payload: 0, tombstones: 1 });
  expect(own.deletedTraces.covers(deletionOf("t4"), atNs)).toBe(true);

  clock.ms += jobsLimits.traceTombstoneMs + 60_000;
  // A span accepted now would be hidden by the tombstone.
  expect(own.deletedTraces.covers(deletionOf("t4"), atNs)).toBe(true);
  await purged({ payload: 0, tombstones: 0 });
  expect(own.deletedTraces.covers(deletionOf("t4"), atNs)).toBe(true);

  clock.ms += domainLimits.deletedTraceMs - jobsLimits.traceTombstoneMs;
  await purged({ payload: 0, tombstones: 0 });
  expect(own.deletedTraces.covers(deletionOf("t4"), atNs)).toBe(false);
  await store("t4");
  expect([await visible("t4"), await visible("kept")]).toEqual([1, 1]);
  const { deletions } = await control.stores.traceDeletions.list("1970-01-01T00:00:00.000Z");
  expect(deletions).toEqual([]);
}, 60_000);

test("with too many deletions, the oldest are evicted", () => {
  const deletedTraces = createDeletedTraces(now);
  for (let n = 0; n <= domainLimits.deletedTraces; n += 1) deletedTraces.add(deletionOf(`many ${n}`));
  expect(deletedTraces.stats()).toEqual({ traces: domainLimits.deletedTraces, evicted: 1 });
  expect(deletedTraces.covers(deletionOf("many 0"), atNs)).toBe(false);
  expect(deletedTraces.covers(deletionOf("many 1"), atNs)).toBe(true);
});
