import { cpSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestClickHouse, type TestClickHouse } from "../support/clickhouse-http-server.ts";
import { createPostgresDatabase, postgresSkipReason, postgresUrl } from "../support/postgres.ts";
import { newDataDir, runAdminProcess, startServerProcess, type ServerProcess } from "../support/server-process.ts";
import { always, createSpan, settle, storeSpans } from "../support/spans.ts";
import type { ListAnswer } from "../support/test-client.ts";

describe.skipIf(postgresUrl === undefined)(`N11: copying the embedded stores to servers${postgresSkipReason}`, () => {
  const folder = newDataDir();
  let clickhouse: TestClickHouse;
  let database: Awaited<ReturnType<typeof createPostgresDatabase>>;
  beforeAll(async () => {
    [clickhouse, database] = await Promise.all([startTestClickHouse(), createPostgresDatabase()]);
  });
  afterAll(async () => {
    await Promise.all([clickhouse.stop(), database.drop(), folder.remove()]);
  });

  const stateOf = async ({ prod }: ServerProcess) => {
    const list = await prod.post(`/api/request-logs/list/?${always}&page_size=1000`, {
      filters: { customer_identifier: "c" },
    });
    const paths = ["/api/providers/", "/api/webhooks/", "/api/evaluators/", "/api/scores/", "/api/users/c/"];
    const others = await Promise.all(paths.map(async (path) => (await prod.get(path)).json));
    return [(list.json as ListAnswer).results, ...others];
  };

  test("keeps spans, media, edits, scores, keys and settings; entries of the journal follow; ids continue", async () => {
    const servers = { SPANWAY_SPANS_URL: clickhouse.url, SPANWAY_CONTROL_URL: database.url.reveal() };
    const embedded = await startServerProcess(folder.path);
    const { prod } = embedded;
    const lab = { provider: "my-lab", base_url: "https://llm.example.com/v1", api_key: "sk-lab-0123456789" };
    await prod.post("/api/providers/", { ...lab, available_models: ["lab-1"] });
    const hook = { url: "https://example.com/hook", name: "n", event_type: "trace_completed" };
    await prod.post("/api/webhooks/", hook);
    const image = `data:image/png;base64,${Buffer.alloc(90_000, 7).toString("base64")}`;
    const picture = { input: [{ role: "user", content: [{ type: "image_url", image_url: { url: image } }] }] };
    await storeSpans(prod, [
      { customer_identifier: "c", ...picture },
      ...Array.from({ length: 300 }, (_, i) => ({
        customer_identifier: "c",
        trace_unique_id: `t${i % 7}`,
        span_unique_id: `s${i}`,
        input: `"quoted" \\ and\nbroken, ${i} – ü 漢 / </x>`,
        metadata: { n: i, nested: { a: [1, null, "ä"] }, big: "12345678901234567890" },
        cost: i / 3,
        prompt_tokens: i,
      })),
    ]);
    const changed = await createSpan(prod, {
      customer_identifier: "c",
      trace_unique_id: "t0",
      span_unique_id: "s0",
      output: "later",
    });
    await settle(prod);
    await prod.request("PATCH", `/api/request-logs/${String(changed["unique_id"])}/`, {
      note: "seen",
      is_pinned: true,
    });
    expect((await prod.request("DELETE", "/api/traces/t6/")).status).toBe(200);
    await settle(prod);
    const before = await stateOf(embedded);
    expect(await runAdminProcess(folder.path, ["copy", folder.path], servers).catch(String)).toContain(
      "Stop the server first",
    );
    await embedded.kill("SIGTERM");

    expect(await runAdminProcess(folder.path, ["copy", folder.path]).catch(String)).toContain(
      "names a server to copy to",
    );
    const broken = newDataDir();
    cpSync(folder.path, broken.path, { recursive: true });
    // A first try that fails half way: the spans are copied, the control store is not.
    await runAdminProcess(broken.path, ["copy", broken.path], { SPANWAY_SPANS_URL: clickhouse.url });
    await broken.remove();
    const output = await runAdminProcess(folder.path, ["copy", folder.path], servers);
    expect(output).toMatch(/\n +spans +\d{3} +\d+\n/);
    expect(await runAdminProcess(folder.path, ["copy", folder.path], servers).catch(String)).toContain(
      "has organizations already",
    );

    const moved = await startServerProcess(folder.path, servers);
    await settle(moved.prod);
    expect(await stateOf(moved)).toEqual(before);
    // The database numbers deletions: the numbers continue after the copied deletion.
    expect((await moved.prod.request("DELETE", "/api/traces/t5/")).status).toBe(200);
    await moved.kill("SIGTERM");
  }, 120_000);
});
