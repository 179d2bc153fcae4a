import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { Registry } from "prom-client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openJournal, type Journal } from "../../storage/journal/journal.ts";
import { createIngestMetrics } from "../../telemetry/ingest-metrics.ts";
import { createSpanIntake, type SpanIntake } from "./accept.ts";
import { createPriceBook } from "../../pricing/price-book.ts";
import { spanIdentity } from "../../domain/identity.ts";
import type { SpanOrigin } from "../normalize/normalize.ts";

type StoredRow = {
  unique_id: string;
  timestamp: string;
  version: string;
  is_deleted?: number;
  is_resend?: number;
  model?: string;
  output?: string;
};

let path: string;
let journal: Journal;
let intake: SpanIntake;
let written: StoredRow[] = [];

function write(payload: Buffer): void {
  const lines = payload.toString().trimEnd().split("\n");
  written.push(...lines.map((line) => JSON.parse(line) as StoredRow));
}

beforeAll(() => {
  path = mkdtempSync(join(tmpdir(), "spanway-accept-"));
  journal = openJournal({ path, maxBytes: 1e9, maxEntries: 1e6, identityMemoryMs: 1e9, isFirst: true, now: Date.now });
  intake = createSpanIntake({
    journal,
    prices: createPriceBook({ maxModels: 10 }),
    metrics: createIngestMetrics(new Registry(), journal),
    writer: { add: (_entry, payload) => write(payload) },
    now: Date.now,
  });
});

afterAll(async () => {
  await journal.close();
  await rm(path, { recursive: true, force: true });
});

let organizations = 0;
const newOrigin = (): SpanOrigin => ({
  organization_id: `org_${(organizations += 1)}`,
  environment: "prod",
  organization_key_id: "k",
  organization_key_name: "k",
  log_method: "logging_api",
});

/** The rows that the span table keeps: the highest version of each key, without tombstones. */
function collapse(rows: StoredRow[]): StoredRow[] {
  const byKey = new Map<string, StoredRow>();
  for (const row of rows) {
    const key = `${row.timestamp} ${row.unique_id}`;
    const previous = byKey.get(key);
    if (!previous || BigInt(row.version) >= BigInt(previous.version)) byKey.set(key, row);
  }
  return [...byKey.values()].filter((row) => row.is_deleted !== 1);
}

async function stored(requests: unknown[][], options: { idempotencyKey?: string } = {}): Promise<StoredRow[]> {
  written = [];
  const origin = newOrigin();
  for (const bodies of requests) await intake.accept(bodies, origin, options);
  return collapse(written);
}

let lastCallMs = 0;

/** Takes spans the way calls are recorded: as received later than all before, unless `receivedMs` says otherwise. */
async function acceptCalls(
  bodies: Array<Record<string, unknown>>,
  origin: SpanOrigin,
  receivedMs = (lastCallMs = Math.max(Date.now(), lastCallMs) + 1),
): Promise<void> {
  const identity = spanIdentity({ ...origin, trace: ids.trace_unique_id, span: ids.span_unique_id });
  const receivedNs = BigInt(receivedMs) * 1_000_000n;
  const calls = bodies.map((body, at) => ({ body, origin, identity, receivedNs: receivedNs + BigInt(at) }));
  expect(
    (
      await intake.acceptCalls(calls, { isRecalled: false, onFault: (error) => expect.unreachable(String(error)) })
    ).every(({ ok }) => ok),
  ).toBe(true);
}

const ids = { trace_unique_id: "t", span_unique_id: "s" };
const started = { ...ids, start_time: "2026-01-01T00:00:00Z", input: "q" };
const completed = { ...started, timestamp: "2026-01-01T00:00:05Z", output: "a" };

describe("one span, sent repeatedly and in any order", () => {
  test("identical resends are one span, also without stated times", async () => {
    expect(await stored([[ids], [ids], [ids]])).toHaveLength(1);
    expect(await stored([[completed], [completed], [completed]])).toHaveLength(1);
    expect(await stored([[completed, completed, completed]])).toHaveLength(1);
  });

  test("the fuller version wins in either order", async () => {
    for (const requests of [
      [[started], [completed]],
      [[completed], [started]],
      [[completed, started]],
      [[started, completed]],
    ]) {
      expect(await stored(requests)).toMatchObject([{ output: "a", timestamp: "2026-01-01 00:00:05.000000000" }]);
    }
  });

  test("of conflicting versions the last received replaces the other entirely", async () => {
    const other = { ...completed, output: "b", model: "m2", timestamp: "2026-01-01T00:00:07Z" };
    const rows = await stored([[{ ...completed, model: "m1" }], [other]]);
    expect(rows).toMatchObject([{ output: "b", model: "m2", timestamp: "2026-01-01 00:00:07.000000000" }]);
    expect(await stored([[other], [{ ...completed, model: "m1" }]])).toMatchObject([{ output: "a", model: "m1" }]);
  });

  test("the same span id in another trace is another span", async () => {
    expect(await stored([[completed], [{ ...completed, trace_unique_id: "t2" }]])).toHaveLength(2);
  });

  test("rows without ids are new each time, unless the request has an idempotency key", async () => {
    expect(
      await stored([
        [{}, {}],
        [{}, {}],
      ]),
    ).toHaveLength(4);
    expect(
      await stored(
        [
          [{}, {}],
          [{}, {}],
        ],
        { idempotencyKey: "k" },
      ),
    ).toHaveLength(2);
  });

  test("any sequence of versions leaves exactly one row: the last of the fullest", async () => {
    const version = fc.record({
      end: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
      output: fc.option(fc.constantFrom("x", "y"), { nil: undefined }),
      tokens: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(version, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 5 }),
        fc.infiniteStream(fc.boolean()),
        async (requests, areCalls) => {
          let n = 0;
          const bodies = requests.map((request) =>
            request.map(({ end, output, tokens }) => ({
              ...ids,
              start_time: "2026-01-01T00:00:00Z",
              ...(end && { timestamp: `2026-01-01T00:00:0${end}Z` }),
              ...(output && { output }),
              ...(tokens && { prompt_tokens: 1, completion_tokens: 1 }),
              model: `m${(n += 1)}`,
            })),
          );
          const rank = (body: object): number =>
            ("output" in body ? 4 : 0) + ("prompt_tokens" in body ? 2 : 0) + ("timestamp" in body ? 1 : 0);
          const all = bodies.flat();
          const fullest = Math.max(...all.map(rank));
          const expected = all.findLast((body) => rank(body) === fullest);
          expect(await stored(bodies)).toMatchObject([{ model: expected?.model }]);

          written = [];
          const origin = newOrigin();
          for (const request of bodies) {
            if (areCalls.next().value === true) await acceptCalls(request, origin);
            else await intake.accept(request, origin);
          }
          expect(collapse(written)).toMatchObject([{ model: expected?.model }]);
        },
      ),
      { numRuns: 60 },
    );
  });
});

test("a bad row is refused and the others are accepted in order", async () => {
  written = [];
  const outcomes = await intake.accept([{ model: "a" }, { model: 1 }, 5, { model: "b" }], newOrigin());
  expect(outcomes.map((outcome) => (outcome.ok ? outcome.row.model : Object.keys(outcome.errors)))).toEqual([
    "a",
    ["model"],
    ["body"],
    "b",
  ]);
  expect(written.map((row) => row.model)).toEqual(["a", "b"]);
});

test("a row over the size limit of a span is refused with that limit", async () => {
  const [outcome] = await intake.accept([{ input: "x".repeat(20 * 1024 * 1024) }], newOrigin());
  expect(outcome).toMatchObject({
    ok: false,
    code: "payload_too_large",
    errors: { body: [expect.stringContaining("20 MB")] },
  });
});

test.each([
  ["equally full", { ...completed, output: "sent" }, "sent"],
  ["fuller", { ...completed, output: "sent", prompt_tokens: 1 }, "sent"],
  ["less full", started, "a"],
])("a call that is accepted after an %s span of its ids, which was received later", async (_, later, output) => {
  const origin = newOrigin();
  for (const isFirst of [true, false]) {
    written = [];
    const send = () => intake.accept([{ ...later, trace_unique_id: String(isFirst) }], origin);
    const callEndedMs = Date.now() - 40;
    if (isFirst) await send();
    await acceptCalls([{ ...completed, trace_unique_id: String(isFirst) }], origin, callEndedMs);
    if (!isFirst) await send();
    expect(collapse(written)).toMatchObject([{ output }]);
  }
});

test("concurrent resends of one span leave one row", async () => {
  written = [];
  const origin = newOrigin();
  await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      intake.accept([{ ...completed, timestamp: `2026-01-01T00:00:${10 + i}Z` }], origin),
    ),
  );
  expect(collapse(written)).toHaveLength(1);
});

test("a superseded row is accepted only once the fuller one is on disk", async () => {
  let commit: () => void = () => undefined;
  const slow: Journal = {
    ...journal,
    lookup: () => ({ timestampNs: 0n, version: 7n << 61n, firstReceivedNs: 0n }),
    settled: () => new Promise((resolve) => (commit = resolve)),
  };
  const intakeOver = (over: Journal): SpanIntake =>
    createSpanIntake({
      journal: over,
      prices: createPriceBook({ maxModels: 10 }),
      metrics: createIngestMetrics(new Registry(), journal),
      writer: { add: () => undefined },
      now: Date.now,
    });
  let isAccepted = false;
  const accepting = intakeOver(slow)
    .accept([started], newOrigin())
    .then(() => (isAccepted = true));
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(isAccepted).toBe(false);
  commit();
  await accepting;
  expect(isAccepted).toBe(true);
  const failing = intakeOver({ ...slow, settled: () => Promise.reject(new Error("disk")) });
  await expect(failing.accept([started], newOrigin())).rejects.toThrow("disk");
});

test("the span received later wins, also after the clock was set back", async () => {
  written = [];
  const origin = newOrigin();
  const restarted = createSpanIntake({
    journal,
    prices: createPriceBook({ maxModels: 10 }),
    metrics: createIngestMetrics(new Registry(), journal),
    writer: { add: (_entry, payload) => write(payload) },
    now: () => Date.now() - 3_600_000,
  });
  await intake.accept([completed], origin);
  await restarted.accept([{ ...completed, output: "same key" }], origin);
  await restarted.accept([{ ...completed, output: "new", timestamp: "2026-01-01T00:00:09Z" }], origin);
  expect(collapse(written)).toMatchObject([{ output: "new" }]);
});

describe("rows that may share their key with another row are marked as resends", () => {
  const marksOf = async (...requests: unknown[][]): Promise<Array<number | undefined>> => {
    written = [];
    const origin = newOrigin();
    for (const bodies of requests) await intake.accept(bodies, origin);
    return written.map((row) => row.is_resend);
  };
  const endingIn = (ms: number, over: object = {}) => ({
    ...ids,
    ...over,
    timestamp: new Date(Date.now() + ms).toISOString(),
  });
  const hourMs = 3_600_000;

  test("marks every version after the first, and the tombstone of the first", async () => {
    expect(await marksOf([endingIn(0)], [endingIn(1000)])).toEqual([undefined, 1, 1]);
    const same = endingIn(0);
    expect(await marksOf([same, same], [same])).toEqual([undefined, 1, 1]);
  });

  test("does not mark first versions or rows without an identity, whenever they ended", async () => {
    const elsewhere = { trace_unique_id: undefined, span_unique_id: undefined };
    const rows = [endingIn(0), endingIn(-365 * 24 * hourMs, elsewhere), endingIn(365 * 24 * hourMs, elsewhere)];
    expect(await marksOf(rows)).toEqual([undefined, undefined, undefined]);
  });

  test("marks spans that ended before the identity memory begins, or far in the future", async () => {
    const ends = [-20 * 24 * hourMs, -hourMs / 2, 2 * hourMs].map((ms, i) => endingIn(ms, { span_unique_id: `s${i}` }));
    const folder = mkdtempSync(join(tmpdir(), "spanway-accept-marks-"));
    const since = Date.now() - 10 * 24 * hourMs;
    let clock = since;
    const young = openJournal({
      path: folder,
      maxBytes: 1e9,
      maxEntries: 1e6,
      identityMemoryMs: 1e12,
      now: () => clock,
    });
    clock = Date.now();
    const own = createSpanIntake({
      journal: young,
      prices: createPriceBook({ maxModels: 10 }),
      metrics: createIngestMetrics(new Registry(), young),
      writer: {
        add(entry, payload) {
          write(payload);
          expect(entry.hasResends).toBe(true);
        },
      },
      now: () => clock,
    });
    written = [];
    await own.accept(ends, newOrigin());
    expect(written.map((row) => row.is_resend)).toEqual([1, undefined, 1]);
    await young.close();
    await rm(folder, { recursive: true, force: true });
  });
});
