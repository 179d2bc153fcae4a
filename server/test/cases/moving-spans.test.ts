import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import { retrieveTrace, traceSpan } from "../support/traces.ts";

/** Reads find spans and then read them; a resend with other times in between moves them. */
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

test("spans are never missing from reads while they are resent with other times", async () => {
  const { prod: client } = await app.newOrganization();
  const trace = randomUUID();
  const logs = Array.from({ length: 10 }, (_, i) => ({ trace_unique_id: trace, span_unique_id: `s${i}` }));
  await client.post("/api/request-logs/bulk/", { logs });
  const { results } = await client.waitForSpans(logs.length);
  const missing: string[] = [];
  for (let resend = 0; resend < 15; resend += 1) {
    // Without their own time, each resend moves them to now.
    await client.post("/api/request-logs/bulk/", { logs });
    for (const { unique_id: id } of results.slice(0, 3)) {
      const { status } = await client.get(`/api/request-logs/${String(id)}/`);
      if (status !== 200) missing.push(`retrieve answered ${status}`);
    }
    const list = await client.list();
    if (list.count !== logs.length || list.results.length !== logs.length)
      missing.push(`list had ${list.results.length}`);
  }
  expect(missing).toEqual([]);
});

describe("a trace whose spans are resent with other times is never shown partially", () => {
  const ids = ["root", "a", "b", "c", "d", "e"];

  test.each([
    { tree: "full", reads: 5 },
    { tree: "flat", reads: 2 },
  ])("tree=$tree", async ({ tree, reads }) => {
    const { prod: client } = await app.newOrganization();
    const send = (shift: number) =>
      client.post("/api/request-logs/bulk/", {
        logs: ids.map((id) => traceSpan("moving", id, id === "root" ? null : "root", shift)),
      });
    await send(0);
    await client.waitForSpans(ids.length);
    const counts = new Set<string>();
    for (let shift = 1; shift <= 12; shift += 1) {
      await send(shift);
      for (let read = 0; read < reads; read += 1) {
        const { span_count, span_tree, spans } = await retrieveTrace(client, "moving", `tree=${tree}`);
        const page = spans as { results: unknown[] } | undefined;
        const shown = page?.results.length ?? span_tree.length + (span_tree[0]?.children.length ?? 0);
        counts.add(`${String(span_count)} counted, ${shown} shown`);
      }
    }
    expect([...counts]).toEqual([`${ids.length} counted, ${ids.length} shown`]);
  });
});

test("a list of traces counts all their spans while they are resent with other times", async () => {
  const { prod: client } = await app.newOrganization();
  const ids = Array.from({ length: 40 }, (_, i) => i);
  const send = () => {
    const logs = ids.map((i) => ({
      trace_unique_id: `t${i % 4}`,
      span_unique_id: `s${i}`,
      timestamp: new Date(Date.now() - Math.random() * 1_800_000).toISOString(),
    }));
    return client.post("/api/request-logs/bulk/", { logs });
  };
  await send();
  await client.waitForSpans(ids.length);
  const counts = new Set<string>();
  for (let read = 0; read < 15; read += 1) {
    const writing = Promise.all([send(), send().then(send)]);
    const { json } = await client.post("/api/traces/list/", {});
    counts.add((json as { results: Array<{ span_count: number }> }).results.map((row) => row.span_count).join());
    await writing;
  }
  expect([...counts]).toEqual(["10,10,10,10"]);
});
