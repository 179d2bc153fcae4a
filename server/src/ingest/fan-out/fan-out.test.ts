import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import { Registry } from "prom-client";
import { afterEach, describe, expect, test } from "vitest";
import { hasContent, type SpanRow } from "../../domain/span.ts";
import { ingestLimits } from "../limits.ts";
import { openJournal, type Journal } from "../../storage/journal/journal.ts";
import { createFanOutMetrics, createIngestMetrics } from "../../telemetry/ingest-metrics.ts";
import { createFanOut, type FanOut, type SpanSubscriber } from "./fan-out.ts";
import type { ReadBack } from "./read-back.ts";
import { createSpanWriter, type SpanWriter } from "../writer/writer.ts";

const cleanup: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const undo of cleanup.splice(0).reverse()) await undo();
});

function newFolder(): string {
  const path = mkdtempSync(join(tmpdir(), "spanway-fan-out-"));
  cleanup.push(() => rm(path, { recursive: true, force: true }));
  return path;
}

type Bench = { journal: Journal; writer: SpanWriter; fanOut: FanOut; close(): Promise<void> };

/** A node's journal, writer and fan-out, with a span store that accepts everything. */
function start(
  path: string,
  subscribers: SpanSubscriber[],
  { readBack = nothingToRead, isDown = false, maxRetainedBytes = ingestLimits.fanOutRetainedBytes } = {},
): Bench {
  const logger = pino({ level: "silent" });
  const journal = openJournal({ path, maxBytes: 1e9, maxEntries: 1e6, identityMemoryMs: 1e9, now: Date.now });
  const registry = new Registry();
  const metrics = createFanOutMetrics(registry, journal.retained);
  const fanOut = createFanOut({ journal, subscribers, readBack, maxRetainedBytes, metrics, logger });
  const insert = () => (isDown ? Promise.reject(new Error("down")) : Promise.resolve());
  const writer = createSpanWriter({
    journal,
    store: { insert },
    metrics: createIngestMetrics(registry, journal),
    fanOut,
    logger,
    nodeId: "node",
    now: Date.now,
  });
  fanOut.start();
  writer.start();
  const close = async () => {
    await writer.stop(isDown ? 0 : 1000);
    await fanOut.stop();
    await journal.close();
  };
  return { journal, writer, fanOut, close };
}

const nothingToRead: ReadBack = async function* () {};

function row(id: string, organization_id = "org_a", extra: Partial<SpanRow> = {}): SpanRow {
  const received_at = `2026-01-01 00:00:0${id.length % 10}.000000000`;
  return { organization_id, environment: "prod", timestamp: "", unique_id: id, version: "1", received_at, ...extra };
}

async function add({ journal, writer, fanOut }: Bench, rows: readonly SpanRow[], isBuffered = true): Promise<void> {
  const payload = Buffer.from(rows.map((each) => `${JSON.stringify(each)}\n`).join(""));
  const entry = await journal.append({ payload, rows: rows.length, identities: [] });
  if (isBuffered) fanOut.buffer(entry.seq, fanOut.select(rows[0]!.organization_id, rows, payload.byteLength));
  writer.add(entry, payload);
}

type Recorder = SpanSubscriber & { ids: string[]; rows: SpanRow[] };

function recorder(name: string, over: Partial<SpanSubscriber> = {}): Recorder {
  const ids: string[] = [];
  const rows: SpanRow[] = [];
  return {
    name,
    ids,
    rows,
    wants: () => true,
    consume: (batch) => {
      for (const spans of batch) {
        rows.push(...spans.rows);
        ids.push(...spans.rows.map(({ unique_id }) => unique_id));
      }
      return Promise.resolve();
    },
    ...over,
  };
}

async function settled({ writer, fanOut }: Bench): Promise<void> {
  await writer.flush();
  await fanOut.drained();
}

describe("every subscriber", () => {
  test("reports how much it has not acknowledged, and since when, including refused entries", async () => {
    const gate = Promise.withResolvers<void>();
    let tries = 0;
    const slow = recorder("slow", {
      batchRows: 1,
      consume: async () => {
        tries += 1;
        if (tries === 1) throw new Error("not yet");
        await gate.promise;
      },
    });
    const bench = start(newFolder(), [slow, recorder("quick")]);
    const before = performance.now();
    for (const id of ["a1", "a2", "a3"]) await add(bench, [row(id)]);
    await bench.writer.flush();
    const of = (name: string) => bench.fanOut.waiting().find(({ subscriber }) => subscriber === name);
    await expect.poll(() => [tries >= 2, of("quick")?.entries], { timeout: 5_000 }).toEqual([true, 0]);
    expect(of("slow")?.entries).toBe(3);
    const sinceMs = of("slow")?.sinceMs ?? 0;
    expect(sinceMs).toBeGreaterThanOrEqual(before);
    expect(of("quick")?.sinceMs).toBeUndefined();
    gate.resolve();
    await settled(bench);
    expect(of("slow")).toMatchObject({ entries: 0, sinceMs: undefined });
  });

  test("sees each span of a request before it decides which later ones it wants", async () => {
    const named = new Set<string>();
    const subscriber = recorder("notes", {
      accepted: (rows) => rows.forEach(({ gateway_log_id: id = "" }) => named.add(id)),
      concerns: ({ unique_id: id }) => id === "root" || named.has(id),
    });
    const bench = start(newFolder(), [subscriber]);
    await add(bench, [row("root"), row("child", "org_a", { gateway_log_id: "call" })]);
    await settled(bench);
    await add(bench, [row("call")]);
    await add(bench, [row("another call")]);
    await settled(bench);
    expect(subscriber.ids).toEqual(["root", "child", "call"]);
  });

  test("gets the spans of the organizations it wants, and no entry is left over", async () => {
    const [all, some] = [recorder("all"), recorder("some", { wants: (id) => id === "org_b" })];
    const bench = start(newFolder(), [all, some]);
    await add(bench, [row("a1"), row("a2")]);
    await add(bench, [row("b1", "org_b")]);
    await settled(bench);
    expect(all.ids).toEqual(["a1", "a2", "b1"]);
    expect(some.ids).toEqual(["b1"]);
    expect(bench.journal.retained.stats()).toEqual({ entries: 0, bytes: 0 });
    await bench.close();
  });

  test("gets whole spans if it reads content, also if it was added after they were buffered without content", async () => {
    let hasReader = true;
    const [reader, other] = [
      recorder("reader", { wants: () => hasReader }),
      recorder("other", { readsContent: false }),
    ];
    const bench = start(newFolder(), [reader, other]);
    const stated = { log_type: "chat", cost: 0.5, input: "question", metadata: { a: 1 } } as const;
    await add(bench, [row("a1", "org_a", stated)]);
    await settled(bench);
    hasReader = false;
    await add(bench, [row("b1", "org_a", stated), row("b2", "org_a")]);
    await settled(bench);
    // Added between the intake and the store.
    const payload = Buffer.from(`${JSON.stringify(row("c1", "org_a", stated))}\n`);
    const entry = await bench.journal.append({ payload, rows: 1, identities: [] });
    const selected = bench.fanOut.select("org_a", [row("c1", "org_a", stated)], payload.byteLength);
    bench.fanOut.buffer(entry.seq, selected);
    hasReader = true;
    bench.writer.add(entry, payload);
    await settled(bench);
    expect(reader.rows).toMatchObject([stated, stated]);
    const [whole, narrow, empty, late] = other.rows;
    expect([whole, late]).toMatchObject([stated, stated]);
    expect([narrow, empty].map((each) => [each?.cost, each?.metadata, each && hasContent(each)])).toEqual([
      [0.5, undefined, true],
      [undefined, undefined, false],
    ]);
    await bench.close();
  });

  test("gets the requests with a span that concerns it; other requests are not retained", async () => {
    const concerns = ({ customer_identifier }: SpanRow): boolean => customer_identifier !== undefined;
    const [all, named] = [recorder("all"), recorder("named", { concerns })];
    const bench = start(newFolder(), [all, named]);
    await add(bench, [row("a1"), row("a2", "org_a", { customer_identifier: "ann" })]);
    await add(bench, [row("b1")]);
    // Rows that were not buffered are not parsed to find out, and are dispatched.
    await add(bench, [row("c1")], false);
    await settled(bench);
    expect(all.ids).toEqual(["a1", "a2", "b1", "c1"]);
    expect(named.ids).toEqual(["a1", "a2", "c1"]);
    expect(bench.journal.retained.stats()).toEqual({ entries: 0, bytes: 0 });
    await bench.close();
  });

  test("gets rows that were not buffered as they were accepted, without tombstones", async () => {
    const seen = recorder("seen");
    const bench = start(newFolder(), [seen]);
    const span = row("a1", "org_a", { metadata: { a: { b: 1 } }, prompt_messages: [{ role: "user" }] });
    await add(bench, [span, row("gone", "org_a", { is_deleted: 1 })], false);
    await settled(bench);
    expect(seen.rows).toEqual([span]);
    await bench.close();
  });

  test("gets resent spans, also if they arrive first and were not buffered", async () => {
    const seen = recorder("seen");
    const bench = start(newFolder(), [seen]);
    await add(bench, [{ is_resend: 1, ...row("a1") }, row("a2")], false);
    await settled(bench);
    expect(seen.ids).toEqual(["a1", "a2"]);
    await bench.close();
  });

  test("gets refused batches again, without delaying other subscribers and spans", async () => {
    let refusals = 0;
    const consumed = recorder("fussy");
    const consume: SpanSubscriber["consume"] = (batch, signal) => {
      const bad = batch.flatMap(({ rows }) => rows).find(({ unique_id }) => unique_id === "bad");
      if (bad === undefined || refusals >= 3) return consumed.consume(batch, signal);
      refusals += 1;
      return Promise.reject(new Error("not now"));
    };
    const fussy = { ...consumed, consume };
    const calm = recorder("calm");
    const bench = start(newFolder(), [fussy, calm]);
    await add(bench, [row("bad")]);
    for (let i = 0; i < 5; i += 1) await add(bench, [row(`good ${i}`)]);
    await bench.writer.flush();
    await expect.poll(() => calm.ids).toHaveLength(6);
    await bench.fanOut.drained();
    expect(fussy.ids.toSorted()).toEqual(calm.ids.toSorted());
    expect(fussy.ids.at(-1)).toBe("bad");
    await bench.close();
  });
});

test("a subscriber that hangs delays neither the writer nor another subscriber", async () => {
  const stuck = recorder("stuck", { consume: (_batch, signal) => sleep(1e6, undefined, { signal }) });
  const seen = recorder("seen");
  const bench = start(newFolder(), [stuck, seen]);
  for (let i = 0; i < 20; i += 1) await add(bench, [row(`${i}`)]);
  await bench.writer.flush();
  await expect.poll(() => seen.ids).toHaveLength(20);
  expect(bench.journal.stats()).toMatchObject({ entries: 0, bytes: 0 });
  expect(bench.journal.retained.stats().entries).toBe(20);
  await bench.close();
});

describe("after a crash", () => {
  test("entries that a subscriber had not acknowledged are dispatched again, and not stored again", async () => {
    const path = newFolder();
    const stuck = recorder("stuck", { consume: (_batch, signal) => sleep(1e6, undefined, { signal }) });
    const first = start(path, [stuck]);
    await add(first, [row("a"), row("b")]);
    await add(first, [row("c")]);
    await first.writer.flush();
    await first.close();

    const again = recorder("stuck");
    const second = start(path, [again]);
    expect(second.journal.pending(0, 10)).toEqual([]);
    await second.fanOut.drained();
    expect(again.ids).toEqual(["a", "b", "c"]);
    expect(second.journal.retained.stats()).toEqual({ entries: 0, bytes: 0 });
    await second.close();
  });

  test("entries that were not stored yet are stored first, then dispatched", async () => {
    const path = newFolder();
    const first = start(path, [recorder("seen")], { isDown: true });
    await add(first, [row("a")]);
    await first.close();

    const seen = recorder("seen");
    const second = start(path, [seen]);
    await second.writer.flush();
    await second.fanOut.drained();
    expect(seen.ids).toEqual(["a"]);
    await second.close();
  });

  test("entries of a subscriber that no longer exists are removed", async () => {
    const path = newFolder();
    const first = start(path, [recorder("old", { consume: () => Promise.reject(new Error("never")) })]);
    await add(first, [row("a")]);
    await first.writer.flush();
    await first.close();
    const second = start(path, [recorder("new")]);
    await expect.poll(() => second.journal.retained.stats().entries).toBe(0);
    await second.close();
  });
});

test("beyond its bound only the range to read back is retained, in this run and the next", async () => {
  const path = newFolder();
  const stored: SpanRow[] = [];
  const ranges: Array<{ organizationId: string; from: string; to: string }> = [];
  const readBack: ReadBack = async function* ({ organizationId, from, to }) {
    ranges.push({ organizationId, from, to });
    yield stored.filter(({ received_at = "" }) => received_at >= from && received_at <= to);
  };
  const stuck = recorder("seen", { consume: (_batch, signal) => sleep(1e6, undefined, { signal }) });
  const maxRetainedBytes = 5_000;
  const first = start(path, [stuck], { readBack, maxRetainedBytes });
  for (let i = 1; i <= 20; i += 1) {
    const span = row(`${i}`, "org_a", { received_at: `2026-01-01 00:00:00.${String(i).padStart(9, "0")}` });
    stored.push(span);
    await add(first, [{ ...span, input: "x".repeat(800) }]);
  }
  await first.writer.flush();
  const { bytes, entries } = first.journal.retained.stats();
  expect(bytes).toBeLessThanOrEqual(maxRetainedBytes);
  expect(entries).toBeGreaterThan(0);
  expect(first.journal.retained.missed()).toEqual([
    {
      subscriber: "seen",
      organizationId: "org_a",
      from: stored[entries]?.received_at,
      to: stored.at(-1)?.received_at,
    },
  ]);
  await first.close();

  ranges.splice(0);
  const seen = recorder("seen");
  const second = start(path, [seen], { readBack });
  await second.fanOut.drained();
  expect(ranges).toHaveLength(1);
  expect(seen.ids.toSorted()).toEqual(stored.map(({ unique_id }) => unique_id).toSorted());
  expect(second.journal.retained.missed()).toEqual([]);
  await second.close();
});

test("entries retained of one organization leave capacity for another's", async () => {
  const stuck = recorder("seen", { consume: (_batch, signal) => sleep(1e6, undefined, { signal }) });
  const readAgain: string[] = [];
  const readBack: ReadBack = (range, signal) => {
    readAgain.push(range.organizationId);
    return nothingToRead(range, signal);
  };
  const bench = start(newFolder(), [stuck], { maxRetainedBytes: 20_000, readBack });
  for (let i = 1; i <= 30; i += 1) await add(bench, [row(`${i}`, "org_a", { input: "x".repeat(800) })]);
  await add(bench, [row("b", "org_b", { input: "x".repeat(800) })]);
  await bench.writer.flush();
  const missed = bench.journal.retained.missed().map(({ organizationId }) => organizationId);
  expect(new Set([...missed, ...readAgain])).toEqual(new Set(["org_a"]));
  expect(bench.journal.retained.stats().bytes).toBeLessThanOrEqual(20_000);
  await bench.close();
});

describe("a subscriber with a full queue for an organization", () => {
  test("reads missed spans back once there is room, also in the next run, without delaying others", async () => {
    const path = newFolder();
    const stored: SpanRow[] = [];
    const readBack: ReadBack = async function* ({ organizationId, from, to }) {
      const rows = stored.filter(
        ({ organization_id: of, received_at: at = "" }) => of === organizationId && at >= from && at <= to,
      );
      for (let start = 0; start < rows.length; start += 4) yield rows.slice(start, start + 4);
    };
    const full = new Set(["org_a"]);
    const isFull = (organizationId: string) => full.has(organizationId);
    const first = recorder("queue", { isFull });
    const other = recorder("other");
    const bench = start(path, [first, other], { readBack });
    const each = async (organization: string, count: number): Promise<void> => {
      for (let i = 0; i < count; i += 1) {
        const received_at = `2026-01-01 00:00:00.${String(stored.length).padStart(9, "0")}`;
        const span = row(`${organization} ${stored.length}`, organization, { received_at });
        stored.push(span);
        await add(bench, [span], i % 2 === 0);
      }
    };
    await each("org_a", 10);
    await each("org_b", 3);
    await bench.writer.flush();
    await expect.poll(() => other.ids).toHaveLength(13);
    await expect.poll(() => bench.journal.retained.stats().entries).toBe(0);
    expect(first.ids).toHaveLength(3);
    await bench.close();

    // Four of the spans it reads back fit, then its queue is full again.
    const second = recorder("queue", {
      isFull,
      consume: async (batch, signal) => {
        await recorded.consume(batch, signal);
        if (recorded.ids.length === 4) full.add("org_a");
      },
    });
    const recorded = recorder("queue");
    full.clear();
    const again = start(path, [second, recorder("other")], { readBack });
    await expect.poll(() => full.has("org_a")).toBe(true);
    await sleep(20);
    expect(recorded.ids).toHaveLength(4);
    full.clear();
    await again.fanOut.drained();
    const ofA = stored.filter(({ organization_id: of }) => of === "org_a").map(({ unique_id: id }) => id);
    expect(new Set(recorded.ids)).toEqual(new Set(ofA));
    expect(again.journal.retained.missed()).toEqual([]);
    await again.close();
  });
});
