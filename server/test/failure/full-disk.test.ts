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
const fileKiB = 8192;
const largeChars = 1_500_000;

/** No file of the process may grow beyond the bound: what writes meet on a disk that is full. */
async function startBounded(spansUrl: string) {
  const env = {
    PATH: process.env["PATH"],
    ...testEnvironment(dataDir.path, { SPANWAY_LOG_LEVEL: "info", SPANWAY_SPANS_URL: spansUrl }),
  };
  const child = spawn("bash", ["-c", `ulimit -f ${fileKiB}; exec "${process.execPath}" "${main}"`], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stderr.resume();
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /"url":"([^"]+)","msg":"Spanway is listening"/.exec(line)?.[1];
    if (url === undefined) continue;
    child.stdout.resume();
    return { child, prod: createClient(url, testKeys.prod) };
  }
  throw new Error("the server did not start");
}

/** Few large ones among others: what they leave behind is in pieces. */
const spans = Array.from({ length: 60 }, (_, i): Row => ({
  log_type: "chat",
  custom_identifier: `${i}`,
  input: "x".repeat(i % 5 === 0 ? largeChars : 100_000),
  ...(i % 2 === 0 && { trace_unique_id: "t", span_unique_id: `${i}` }),
}));

test("a disk that is full costs the spans that it cannot hold, and neither the server nor what it holds", async () => {
  clickHouse = await startTestClickHouse();
  const { child, prod } = await startBounded(clickHouse.url);
  const exited = once(child, "exit");
  const accepted: string[] = [];
  const postAll = async (round: number) => {
    let refused = 0;
    for (const span of spans) {
      const custom_identifier = `${round}/${String(span["custom_identifier"])}`;
      const answer = await prod.post("/api/request-logs/", { ...span, custom_identifier, trace_unique_id: `${round}` });
      expect(["201", "503 5"]).toContain([answer.status, answer.headers.get("retry-after") ?? ""].join(" ").trim());
      if (answer.status === 201) accepted.push(custom_identifier);
      else refused += 1;
    }
    return refused;
  };
  // In the second round the file is as long as it can be from the start.
  let refused = 0;
  for (const round of [1, 2]) {
    await clickHouse.setFaults({ refuse: "503" });
    const before = accepted.length;
    refused += await postAll(round);
    expect(accepted.length - before).toBeGreaterThan(5);
    expect(accepted.length - before).toBeLessThan(55);
    expect((await prod.get("/livez")).status).toBe(200);

    await clickHouse.setFaults({});
    const large = { log_type: "text", input: "x".repeat(largeChars) };
    await expect.poll(async () => (await prod.post("/api/request-logs/", large)).status, { timeout: 20_000 }).toBe(201);
    await settle(prod);
    expect((await prod.post("/api/request-logs/", large)).status).toBe(201);
  }
  const { text } = await prod.get("/metrics");
  expect(Number(/^spanway_journal_refusals_total (\d+)$/m.exec(text)?.[1])).toBeGreaterThanOrEqual(refused);
  const { results } = await listSpans(prod, { log_type: "chat" }, "page_size=1000");
  expect(results.map((row) => String(row["custom_identifier"])).sort()).toEqual([...accepted].sort());
  // Its end as well: a write that LMDB itself sees refused can damage memory.
  child.kill("SIGTERM");
  expect((await exited)[0]).toBe(0);
}, 60_000);
