import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { exportFormats } from "../../src/storage/spans/span-export.ts";
import { newEvaluator } from "../support/evaluation.ts";
import { download, exportRows, readExport } from "../support/exports.ts";
import { always, bodyOf, listSpans, storeSpans } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import { createClient, type TestClient } from "../support/test-client.ts";

/** Section C of the additions: exports while clients stall or disconnect and spans change. */

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const path = "/api/request-logs/export/";
const group = (name: string) => ({ group_identifier: { operator: "", value: [name] } });

describe("large cells", () => {
  const size = 10_000_000;
  const rows = 6;
  let large: TestClient;
  beforeAll(async () => {
    ({ prod: large } = await app.newOrganization());
    for (let n = 0; n < rows; n += 1) {
      await storeSpans(large, [
        { group_identifier: "large", input: randomBytes(size / 2).toString("hex"), output: `${n}` },
      ]);
    }
  }, 60_000);

  test.each(exportFormats)("of 10 MB are complete in %s", async (format) => {
    const file = await download(app.url + path, large, `format=${format}&fields=output,input`, group("large"));
    const found = await readExport(format, file);
    expect(new Set(found.map(({ output }) => output))).toEqual(new Set(["0", "1", "2", "3", "4", "5"]));
    expect(found).toHaveLength(rows);
    expect(found.every(({ input }) => typeof input === "string" && input.length === size)).toBe(true);
  });

  test.each(exportFormats)("a disconnecting client ends the query of %s", async (format) => {
    const aborted = async () => {
      const { text } = await createClient(app.url).get("/metrics");
      const found = /spanway_queries_total\{query="export_spans",outcome="aborted"\} (\d+)/.exec(text);
      return Number(found?.[1] ?? 0);
    };
    const before = await aborted();
    const leaving = new AbortController();
    const response = await fetch(`${app.url}${path}?${always}&format=${format}`, {
      method: "POST",
      headers: { authorization: large.authorization, "accept-encoding": "identity" },
      body: "{}",
      signal: leaving.signal,
    });
    await response.body?.getReader().read();
    leaving.abort();
    await vi.waitFor(async () => expect(await aborted()).toBe(before + 1), 10_000);
  });

  test("while one client stalls, others are served", async () => {
    const leaving = new AbortController();
    const stalled = await Promise.all(
      Array.from({ length: 3 }, () =>
        fetch(`${app.url}${path}?${always}`, {
          method: "POST",
          headers: { authorization: large.authorization, "accept-encoding": "identity" },
          body: "{}",
          signal: leaving.signal,
        }),
      ),
    );
    expect(stalled.map(({ status }) => status)).toEqual([200, 200, 200]);
    const { prod: other } = await app.newOrganization();
    await storeSpans(other, [{ group_identifier: "others", span_name: "of others" }]);
    expect(await exportRows(other, path, group("others"), "fields=span_name")).toEqual([{ span_name: "of others" }]);
    expect((await listSpans(other, group("others"))).count).toBe(1);
    leaving.abort();
  });
});

test("a span that is added, resent or deleted during an export is in it completely or not at all", async () => {
  const { prod: busy } = await app.newOrganization();
  const trace = (n: number, version: string) => ({
    trace_unique_id: `trace ${n}`,
    span_unique_id: "span",
    timestamp: "2026-03-01T00:00:00Z",
    input: version.repeat(20_000),
    output: version.repeat(3),
    group_identifier: "busy",
  });
  await storeSpans(
    busy,
    Array.from({ length: 300 }, (_, n) => trace(n, "a")),
  );
  let isOver = false;
  const changes = (async () => {
    for (let round = 0; !isOver; round += 1) {
      const from = (round * 50) % 300;
      const logs = Array.from({ length: 50 }, (_, n) => trace(from + n, "bcdef"[round % 5] ?? "b"));
      await busy.post("/api/request-logs/bulk/", { logs: [...logs, trace(1_000 + round, "n")] });
      await busy.request("DELETE", `/api/traces/trace%20${299 - (round % 100)}/?${always}`);
    }
  })();
  for (let round = 0; round < 6; round += 1) {
    const rows = await exportRows(busy, path, group("busy"));
    const traces = rows.map((row) => row["trace_unique_id"]);
    expect(new Set(traces).size).toBe(traces.length);
    // Those that nobody deletes are always included.
    expect(traces.filter((id) => Number(String(id).slice(6)) < 200)).toHaveLength(200);
    for (const { input, output } of rows) {
      expect(input).toBe(String(output).slice(0, 1).repeat(20_000));
    }
  }
  isOver = true;
  await changes;
}, 60_000);

test("scores are those of the span store", async () => {
  const { prod: scored } = await app.newOrganization();
  await storeSpans(scored, [
    { group_identifier: "scored", output: "x" },
    { group_identifier: "scored", output: "y" },
  ]);
  const [span] = (await listSpans(scored, group("scored"))).results;
  const id = String(span?.["unique_id"]);
  const evaluator = await newEvaluator(scored, { type: "human", code_config: null, name: 'Qu"ality' });
  const made = await scored.post("/api/scores/", { log_id: id, evaluator_id: evaluator["id"], numerical_value: 0.5 });
  expect(made.status).toBe(201);
  await vi.waitFor(async () => {
    const rows = await exportRows(scored, path, group("scored"), "fields=unique_id,scores");
    const score = bodyOf(made);
    expect(rows.find((row) => row["unique_id"] === id)?.["scores"]).toEqual({
      [String(score["evaluator_id"])]: {
        evaluator_id: score["evaluator_id"],
        evaluator_slug: score["evaluator_slug"],
        evaluator_name: score["evaluator_name"],
        score_value_type: "numerical",
        score_value: 0.5,
        score_text: "0.5",
        is_passed: score["is_passed"],
      },
    });
    expect(rows.map((row) => row["scores"])).toContainEqual({});
  });
});
