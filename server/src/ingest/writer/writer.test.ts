import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { ingestLimits } from "../limits.ts";
import { SpanInsertError, type SpanBatch } from "../../storage/spans/span-store.ts";
import { createWriterQueue } from "./writer.ts";
import { add, bench, cleanup, leave, metric, newFolder, numbered, rowsOf, sinkOf, textOf } from "./writer.fixture.ts";

const retryable = () => new SpanInsertError("retryable", { cause: new Error("down") });
const poison = () => new SpanInsertError("poison", { cause: new Error("cannot parse") });

describe("rows that the store may already have are marked", () => {
  const linesOf = (batches: readonly SpanBatch[]) =>
    batches.flatMap(({ ndjson }) => ndjson.toString().trimEnd().split("\n"));

  test("after a restart, but not rows that arrive later", async () => {
    const sink = sinkOf();
    const own = bench(sink);
    await leave(own, 'a":1}', 'is_resend":1,"a":2}');
    own.writer.start();
    await own.writer.flush();
    await add(own, 'a":3}');
    await own.writer.flush();
    expect(linesOf(sink.batches)).toEqual(['{"is_resend":1,"a":1}', '{"is_resend":1,"a":2}', '{"a":3}']);
    expect(sink.batches.map((batch) => batch.hasResends)).toEqual([true, false]);
  });

  test("when an insert is retried", async () => {
    const sink = sinkOf((_batch, attempt) => {
      if (attempt <= 2) throw retryable();
    });
    const own = bench(sink);
    own.writer.start();
    await add(own, 'a":1}');
    await own.writer.flush();
    expect(linesOf(sink.batches)).toEqual(['{"is_resend":1,"a":1}']);
    expect(sink.batches.map((batch) => batch.hasResends)).toEqual([true]);
  });
});

describe("groups", () => {
  test("requests that arrive close together are one insert, in their order", async () => {
    const sink = sinkOf();
    const own = bench(sink);
    own.writer.start();
    const rows = numbered(50);
    for (const row of rows) await add(own, row);
    await own.writer.flush();
    expect(rowsOf(sink.batches)).toEqual(rows);
    expect(sink.batches.length).toBeLessThan(10);
    for (const { ndjson, rows: count } of sink.batches) expect(ndjson.toString().split("\n")).toHaveLength(count + 1);
  });

  test("a single request is stored after the group's time, without a flush", async () => {
    const sink = sinkOf();
    const own = bench(sink);
    own.writer.start();
    await add(own, "alone");
    await until(() => sink.batches.length === 1);
    expect(own.writer.state()).toMatchObject({ queuedEntries: 0, failing: undefined });
    await until(() => own.journal.stats().entries === 0);
  });

  test("many rows wait longer while nobody reads or waits for them", async () => {
    const sink = sinkOf();
    let isRead = false;
    const b = bench(sink, undefined, undefined, { reads: { isRead: () => isRead } });
    b.writer.start();
    const storedAfterMs = async (meanwhile: () => unknown = () => undefined): Promise<number> => {
      const startedMs = performance.now();
      await add(b, ...numbered(ingestLimits.writerLargeGroupRows));
      const stored = sink.batches.length + 1;
      await sleep(ingestLimits.writerBusyGroupMs);
      void meanwhile();
      await expect.poll(() => sink.batches.length, { interval: 10, timeout: 5_000 }).toBe(stored);
      return performance.now() - startedMs;
    };
    expect(await storedAfterMs()).toBeGreaterThanOrEqual(ingestLimits.writerUnreadGroupMs - 1);
    expect(await storedAfterMs(() => b.writer.caughtUp(5_000))).toBeLessThan(ingestLimits.writerUnreadGroupMs - 50);
    expect(await storedAfterMs(() => (isRead = true))).toBeLessThan(ingestLimits.writerUnreadGroupMs - 50);
  });

  test("N10: if a time and a number of rows are configured, only these determine groups", async () => {
    const sink = sinkOf();
    const own = bench(sink, undefined, undefined, { groups: { ms: 1_500, rows: 40 } });
    own.writer.start();
    const startedMs = performance.now();
    await add(own, ...numbered(39));
    await until(() => sink.batches.length === 1);
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(1_499);
    const fullMs = performance.now();
    await add(own, ...numbered(40));
    await until(() => sink.batches.length === 2);
    expect(performance.now() - fullMs).toBeLessThan(1_000);
  });

  test("no insert exceeds the limits of rows and bytes, unless a single request does", async () => {
    const sink = sinkOf();
    const own = bench(sink);
    const half = numbered(ingestLimits.writerGroupRows / 2);
    const big = "x".repeat(ingestLimits.writerGroupBytes / 2 + 1);
    await leave(own, ...half);
    await leave(own, ...half);
    await leave(own, "one more");
    await leave(own, big);
    await leave(own, big);
    await leave(own, big + big);
    own.writer.start();
    await own.writer.flush();
    expect(sink.batches.map(({ rows }) => rows)).toEqual([ingestLimits.writerGroupRows, 2, 1, 1]);
    expect(rowsOf(sink.batches)).toEqual([...half, ...half, "one more", big, big, big + big]);
  });

  test("each insert has its own token, and a retry repeats it", async () => {
    const sink = sinkOf((_batch, attempt) => {
      if (attempt === 2) throw retryable();
    });
    const tokens: string[] = [];
    const own = bench({ ...sink, insert: (batch) => (tokens.push(batch.token), sink.insert(batch)) });
    own.writer.start();
    for (const row of ["a", "b", "c"]) {
      await add(own, row);
      await own.writer.flush();
    }
    expect(tokens).toHaveLength(4);
    expect(tokens[1]).toBe(tokens[2]);
    expect(new Set(tokens).size).toBe(3);
  });
});

describe("a store that fails", () => {
  test("is retried with growing delays until it takes the rows; the state shows the failure meanwhile", async () => {
    const at: number[] = [];
    const sink = sinkOf((_batch, attempt) => {
      at.push(performance.now());
      if (attempt <= 4) throw retryable();
    });
    const own = bench(sink);
    own.writer.start();
    await add(own, "a");
    await until(() => own.writer.state().failing !== undefined);
    expect(own.writer.state().failing?.sinceMs).toBeLessThanOrEqual(Date.now());
    expect(own.journal.stats().entries).toBe(1);
    await own.writer.flush();
    expect(rowsOf(sink.batches)).toEqual(["a"]);
    expect(own.writer.state().failing).toBeUndefined();
    expect(await metric(own.registry, "spanway_writer_failures_total")).toBe(4);
    const pauses = at.slice(1).map((time, i) => time - at[i]!);
    for (const [i, pause] of pauses.entries()) {
      expect(pause).toBeGreaterThanOrEqual((ingestLimits.writerRetryMinMs * 2 ** i) / 2 - 5);
    }
  });

  test("every error that is not a refusal of the content is retried, whatever was thrown", async () => {
    const thrown: unknown[] = [
      new Error("?"),
      "text",
      undefined,
      Object.assign(new Error("reset"), { code: "ECONNRESET" }),
    ];
    const sink = sinkOf((_batch, attempt) => {
      if (attempt <= thrown.length) throw thrown[attempt - 1];
    });
    const own = bench(sink);
    own.writer.start();
    await add(own, "a");
    await own.writer.flush();
    expect(rowsOf(sink.batches)).toEqual(["a"]);
    expect(own.journal.stats()).toMatchObject({ entries: 0, quarantined: 0 });
  });

  test("later rows wait in order, and are read from the journal beyond the memory limit", async () => {
    let isDown = true;
    const sink = sinkOf(() => {
      if (isDown) throw retryable();
    });
    const own = bench(sink);
    own.writer.start();
    const rows = Array.from({ length: 90 }, (_, i) => `${i} ${"x".repeat(1e6)}`);
    for (const row of rows) await add(own, row);
    isDown = false;
    await own.writer.flush();
    expect(rowsOf(sink.batches).map((row) => row.slice(0, 3))).toEqual(rows.map((row) => row.slice(0, 3)));
    expect(own.journal.stats()).toMatchObject({ entries: 0, bytes: 0 });
  }, 60_000);

  test("stop gives up after the grace period; the journal keeps the rows for the next start", async () => {
    const own = bench(
      sinkOf(() => {
        throw retryable();
      }),
    );
    own.writer.start();
    await add(own, "a", "b");
    await add(own, "c");
    const began = performance.now();
    await own.writer.stop(300);
    expect(performance.now() - began).toBeLessThan(2000);
    expect(own.journal.stats()).toMatchObject({ entries: 2, quarantined: 0 });
    await cleanup.pop()?.();

    const sink = sinkOf();
    const next = bench(sink, own.path);
    expect(next.writer.state().isReplayed).toBe(false);
    next.writer.start();
    await next.writer.flush();
    expect(rowsOf(sink.batches)).toEqual(["a", "b", "c"]);
    expect(next.writer.state().isReplayed).toBe(true);
  });

  test("an insert in progress is aborted when the writer stops", async () => {
    let signal: AbortSignal | undefined;
    const own = bench({
      batches: [],
      insert: (_batch, given) =>
        new Promise((_resolve, reject) => {
          signal = given;
          given?.addEventListener("abort", () => reject(given.reason as Error));
        }),
    });
    own.writer.start();
    await add(own, "a");
    await until(() => signal !== undefined);
    await own.writer.stop(50);
    expect(signal?.aborted).toBe(true);
    expect(own.journal.stats().entries).toBe(1);
  });
});

describe("rows that the store refuses", () => {
  const isBad = (row: string): boolean => textOf(row).startsWith("bad");
  const refusing = () =>
    sinkOf(({ ndjson }) => {
      if (ndjson.toString().split("\n").some(isBad)) throw poison();
    });

  test.each([
    ["alone", [0], 1],
    ["first", [0], 9],
    ["last", [8], 9],
    ["neighbours", [3, 4], 9],
    ["every other", [0, 2, 4, 6], 8],
    ["all", [0, 1, 2, 3], 4],
    ["one of many", [777], 1000],
  ])("%s: the others are stored in order, and each bad one is quarantined", async (_name, bad, count) => {
    const sink = refusing();
    const own = bench(sink);
    const rows = numbered(count).map((row, i) => (bad.includes(i) ? `bad ${i}` : row));
    for (let i = 0; i < count; i += 7) await leave(own, ...rows.slice(i, i + 7));
    own.writer.start();
    await own.writer.flush();
    expect(rowsOf(sink.batches)).toEqual(rows.filter((row) => !isBad(row)));
    expect(own.journal.stats()).toMatchObject({ entries: 0, quarantined: bad.length });
    expect(await metric(own.registry, "spanway_writer_quarantined_rows_total")).toBe(bad.length);
    const tokens = sink.batches.map(({ token }) => token);
    expect(new Set(tokens).size).toBe(tokens.length);
  });

  test("with a store that fails in between, no row is lost or stored twice", async () => {
    const sink = sinkOf(({ ndjson }, attempt) => {
      if (attempt % 3 === 0) throw retryable();
      if (ndjson.toString().split("\n").some(isBad)) throw poison();
    });
    const own = bench(sink);
    await leave(own, "a", "bad", "b", "c");
    own.writer.start();
    await own.writer.flush();
    expect(rowsOf(sink.batches)).toEqual(["a", "b", "c"]);
    expect(own.journal.stats().quarantined).toBe(1);
  });

  test("stopping in the middle leaves the whole entry in the journal", async () => {
    const own = bench(
      sinkOf(({ rows }) => {
        if (rows > 1) throw poison();
        throw retryable();
      }),
    );
    await leave(own, "a", "b");
    own.writer.start();
    await own.writer.stop(200);
    expect(own.journal.stats()).toMatchObject({ entries: 1, quarantined: 0 });
    expect(own.journal.read(1)?.toString()).toBe('{"a\n{"b\n');
  });
});

describe("a journal whose disk is full", () => {
  test("entries that could not be removed are removed later, whether or not others arrive", async () => {
    let refusals = 2;
    const own = bench(sinkOf(), newFolder(), (journal) => ({
      remove: (seqs) => (refusals-- > 0 ? Promise.reject(new Error("disk full")) : journal.remove(seqs)),
    }));
    own.writer.start();
    await add(own, "a");
    await own.writer.flush();
    expect(own.journal.stats().entries).toBe(1);
    await until(() => own.journal.stats().entries === 0);
    refusals = 1;
    await add(own, "b");
    await own.writer.flush();
    expect(own.journal.stats().entries).toBe(1);
    await add(own, "c");
    await own.writer.flush();
    expect(own.journal.stats()).toMatchObject({ entries: 0, bytes: 0 });
  });

  test("a bad row that could not be quarantined stays, and is quarantined once there is room", async () => {
    let refusals = 2;
    const sink = sinkOf(({ ndjson }) => {
      if (ndjson.toString().includes("bad")) throw poison();
    });
    const own = bench(sink, newFolder(), (journal) => ({
      quarantine: (...row) => (refusals-- > 0 ? Promise.reject(new Error("disk full")) : journal.quarantine(...row)),
    }));
    own.writer.start();
    await add(own, "a", "bad", "b");
    await until(() => own.writer.state().failing !== undefined);
    expect(own.journal.stats()).toMatchObject({ entries: 1, quarantined: 0 });
    await own.writer.flush();
    expect(own.journal.stats()).toMatchObject({ entries: 0, quarantined: 1 });
    expect(rowsOf(sink.batches)).toEqual(["a", "b"]);
  });
});

describe("flush and replay", () => {
  test("flush resolves with nothing to do, and when called twice", async () => {
    const own = bench(sinkOf());
    own.writer.start();
    await own.writer.flush();
    await add(own, "a");
    await Promise.all([own.writer.flush(), own.writer.flush()]);
    expect(own.journal.stats().entries).toBe(0);
  });

  test("isReplayed is true only once everything of an earlier process is stored", async () => {
    const first = bench(sinkOf());
    for (const row of numbered(ingestLimits.journalReplayPage * 2 + 1)) await leave(first, row);
    await cleanup.pop()?.();

    const pauses: Array<() => void> = [];
    const sink = sinkOf(() => new Promise<void>((resolve) => pauses.push(resolve)));
    const own = bench(sink, first.path);
    own.writer.start();
    await add(own, "new");
    await until(() => pauses.length === 1);
    expect(own.writer.state().isReplayed).toBe(false);
    pauses[0]?.();
    await until(() => own.writer.state().isReplayed || pauses.length === 2);
    pauses[1]?.();
    await own.writer.flush();
    expect(own.writer.state().isReplayed).toBe(true);
    expect(rowsOf(sink.batches)).toEqual([...numbered(ingestLimits.journalReplayPage * 2 + 1), "new"]);
  });

  test("the queue buffers a bounded number of bytes in memory", () => {
    const queue = createWriterQueue(ingestLimits.writerGroupRows);
    const payload = Buffer.alloc(ingestLimits.writerBufferedBytes / 4);
    for (let seq = 1; seq <= 6; seq += 1)
      queue.push({ seq, rows: 1, bytes: payload.length, hasResends: false }, payload);
    const taken = Array.from({ length: 6 }, () => queue.takeGroup().entries).flat();
    expect(taken.map((entry) => entry.seq)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(taken.map((entry) => entry.payload !== undefined)).toEqual([true, true, true, true, false, false]);
    queue.push({ seq: 7, rows: 1, bytes: payload.length, hasResends: false }, payload);
    expect(queue.takeGroup().entries[0]?.payload).toBe(payload);
  });
});

async function until(isSo: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!isSo()) {
    if (Date.now() > deadline) throw new Error("waited in vain");
    await sleep(5);
  }
}
