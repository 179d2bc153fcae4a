import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { countSpans } from "../../../../test/support/count-spans.ts";
import { createSpanStore } from "../clickhouse-span-store.ts";
import { newOrganization, spanRow } from "../contract/span-fixtures.ts";
import { runPass } from "../contract/sums-contract.ts";
import { openEmbeddedDatabase } from "../drivers/embedded-database.ts";
import type { SpanStore } from "../span-store.ts";
import type { ListTracesQuery } from "../trace-queries.ts";

const folder = mkdtempSync(join(tmpdir(), "spanway-newest-"));
let store: SpanStore;
let statements: string[] = [];
const startMs = Date.UTC(2026, 3, 1, 10);
const hourMs = 3_600_000;

beforeAll(async () => {
  const onQuery = ({ name }: { name: string }) => statements.push(name);
  store = createSpanStore(openEmbeddedDatabase(folder, { sumsFromSpans: 0, onQuery }));
  await store.migrate();
});
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const everything = { sql: "1", params: {}, columns: new Set<string>() };
/** Holds for every trace. All spans are read for a list with a condition. */
const condition = { matches: [], having: everything, figures: [] };

async function list(query: Omit<ListTracesQuery, "sort">) {
  statements = [];
  const listed = await store.listTraces({ ...query, sort: { field: "timestamp", descending: true } });
  return { listed, statements };
}

type Drawn = { startS: number; gapsS: number[]; isTest: boolean };
const drawn: fc.Arbitrary<Drawn> = fc.record({
  startS: fc.nat(3_600),
  gapsS: fc.array(fc.oneof(fc.nat(20), fc.nat(900)), { maxLength: 3 }),
  isTest: fc.boolean(),
});

async function insertTraces(org: string, traces: readonly Drawn[], { areCounted = true } = {}) {
  const rows = traces.flatMap(({ startS, gapsS, isTest }, index) => {
    const of = {
      trace_unique_id: `t${index % 29}`,
      environment: isTest ? "test" : "prod",
      log_type: "chat",
      cost: 0.5,
    };
    const ends = [startS];
    for (const gap of gapsS) ends.push((ends.at(-1) ?? 0) + gap);
    const at = (second: number) => new Date(startMs + second * 1_000).toISOString().slice(0, 19).replace("T", " ");
    return ends.map((second) => spanRow(org, { ...of, timestamp: `${at(second)}.000000000`, start_time: at(second) }));
  });
  const ndjson = Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  await store.insert({ ndjson, rows: rows.length, token: randomUUID() });
  if (areCounted) await countSpans(store, rows);
}

it("lists the newest of many traces as if all spans were read, in any window", async () => {
  const histories = fc.array(drawn, { minLength: 8, maxLength: 40 });
  let newest = 0;
  await fc.assert(
    fc.asyncProperty(histories, fc.nat(3_600), async (traces, cutS) => {
      const scope = { organization_id: newOrganization() };
      await insertTraces(scope.organization_id, traces);
      await runPass(store);
      const ends = [startMs + 3 * hourMs, startMs + hourMs + cutS * 1_000, startMs + 900_000 + cutS * 500];
      for (const [from, page] of [
        [startMs - hourMs, 1],
        [startMs + cutS * 300, 2],
      ] as const) {
        for (const to of ends) {
          const window = { fromNs: BigInt(from) * 1_000_000n, toNs: BigInt(to) * 1_000_000n };
          const query = { scope, window, page, pageSize: 5 };
          const [quick, whole] = [await list(query), await list({ ...query, condition })];
          expect(quick.listed).toEqual(whole.listed);
          expect(whole.statements).toContain("list_traces");
          if (!quick.statements.includes("list_traces")) newest += 1;
        }
      }
    }),
    { numRuns: 6, endOnFailure: true },
  );
  expect(newest).toBeGreaterThan(0);
});

it("lists wide traces completely before they are counted", async () => {
  const scope = { organization_id: newOrganization() };
  const narrow = Array.from({ length: 28 }, (_, index) => ({ startS: 100 * index, gapsS: [1], isTest: false }));
  await insertTraces(scope.organization_id, narrow);
  await runPass(store);
  const window = { fromNs: BigInt(startMs - hourMs) * 1_000_000n, toNs: BigInt(startMs + 3 * hourMs) * 1_000_000n };
  const query = { scope, window, page: 1, pageSize: 1 };
  expect((await list(query)).statements).not.toContain("list_traces");
  const wide = { startS: 3_000, gapsS: [200, 10, 300], isTest: true };
  await insertTraces(scope.organization_id, [wide], { areCounted: false });
  const { rows } = (await list(query)).listed;
  expect(rows[0]).toMatchObject({ trace_unique_id: "t0", environment: "test", span_count: 4 });
  expect(rows[0]?.duration).toBeGreaterThanOrEqual(510);
});

it("sums traces of more spans than a page reads in one statement in the engine", async () => {
  const scope = { organization_id: newOrganization() };
  await insertTraces(scope.organization_id, [
    { startS: 0, gapsS: Array.from({ length: 1_200 }, () => 1), isTest: false },
    { startS: 10, gapsS: [1], isTest: false },
  ]);
  await runPass(store);
  const window = { fromNs: BigInt(startMs) * 1_000_000n, toNs: BigInt(startMs + hourMs) * 1_000_000n - 1n };
  const { listed, statements: names } = await list({ scope, window, page: 1, pageSize: 5 });
  expect(names).not.toContain("list_traces");
  expect(listed.rows.map((row) => [row.trace_unique_id, row.span_count, row.total_cost])).toEqual([
    ["t0", 1_201, 600.5],
    ["t1", 2, 1],
  ]);
});
