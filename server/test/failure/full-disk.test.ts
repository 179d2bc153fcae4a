import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { afterAll, expect, test } from "vitest";
import { startTestClickHouse, type TestClickHouse } from "../support/clickhouse-http-server.ts";
import { newDataDir } from "../support/server-process.ts";
import { listSpans, settle } from "../support/spans.ts";
import { testEnvironment, testKeys } from "../support/test-app.ts";
import { createClient, type Row } from "../support/test-client.ts";

const dataDir = newDataDir();
let clickHouse: TestClickHouse | undefined;
afterAll(async () => {
  await clickHouse?.stop();
  await dataDir.remove();
});

const main = new URL("../../src/main.ts", import.meta.url).pathname;
const fileKiB = 2048;

/** No file of the process may grow beyond the bound: what writes meet on a disk that is full. */
async function startBounded(spansUrl: string) {
  const env = {
    PATH: process.env["PATH"],
    ...testEnvironment(dataDir.path, { SPANWAY_LOG_LEVEL: "info", SPANWAY_SPANS_URL: spansUrl }),
  };
  const child = spawn("bash", ["-c", `ulimit -f ${fileKiB}; exec "${process.execPath}" "${main}"`], {
    env,
    stdio: ["ignore", "pipe", "ignore"],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /"url":"([^"]+)","msg":"Spanway is listening"/.exec(line)?.[1];
    if (url === undefined) continue;
    child.stdout.resume();
    return { child, prod: createClient(url, testKeys.prod) };
  }
  throw new Error("the server did not start");
}

test("a disk that is full costs the spans that it cannot hold, and neither the server nor what it holds", async () => {
  clickHouse = await startTestClickHouse();
  const { child, prod } = await startBounded(clickHouse.url);
  const exited = once(child, "exit");
  await clickHouse.setFaults({ refuse: "503" });
  const spans = Array.from({ length: 60 }, (_, i): Row => ({
    log_type: "chat",
    custom_identifier: `${i}`,
    input: "x".repeat(100_000),
    ...(i % 2 === 0 && { trace_unique_id: "t", span_unique_id: `${i}` }),
  }));
  const accepted: string[] = [];
  for (const span of spans) {
    const answer = await prod.post("/api/request-logs/", span);
    expect([201, 503]).toContain(answer.status);
    if (answer.status === 201) accepted.push(String(span["custom_identifier"]));
  }
  expect(accepted.length).toBeGreaterThan(5);
  expect(accepted.length).toBeLessThan(30);
  const refused = await prod.post("/api/request-logs/", spans[0]);
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "5"]);
  expect((await prod.get("/livez")).status).toBe(200);
  const { text } = await prod.get("/metrics");
  expect(Number(/^spanway_journal_refusals_total (\d+)$/m.exec(text)?.[1])).toBe(spans.length - accepted.length + 1);

  await clickHouse.setFaults({});
  await expect
    .poll(async () => (await prod.post("/api/request-logs/", { log_type: "text" })).status, { timeout: 20_000 })
    .toBe(201);
  await settle(prod);
  const { results } = await listSpans(prod, { log_type: "chat" }, "page_size=1000");
  expect(results.map((row) => String(row["custom_identifier"])).sort()).toEqual([...accepted].sort());
  child.kill("SIGTERM");
  expect((await exited)[0]).toBe(0);
}, 60_000);
