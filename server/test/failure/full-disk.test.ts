import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { afterAll, expect, test } from "vitest";
import { startTestClickHouse, type TestClickHouse } from "../support/clickhouse-http-server.ts";
import { newDataDir, programEnvironment, programs } from "../support/server-process.ts";
import { listSpans, settle } from "../support/spans.ts";
import { testEnvironment, testKeys } from "../support/test-app.ts";
import { createClient, type Row } from "../support/test-client.ts";

const dataDir = newDataDir();
let clickHouse: TestClickHouse | undefined;
afterAll(async () => {
  await clickHouse?.stop();
  await dataDir.remove();
});

const journalAlone = new URL("../support/journal-on-full-disk.ts", import.meta.url).pathname;
const fileKiB = 8192;
const largeChars = 1_500_000;

/** No file of the process may exceed the bound: writes fail as on a full disk. */
function spawnBounded(env: Record<string, string | undefined>, ...args: string[]) {
  const child = spawn("bash", ["-c", `ulimit -f ${fileKiB}; exec "$0" "$@"`, process.execPath, ...args], {
    env: { ...programEnvironment(), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  return { child, stderr: () => stderr };
}

async function startBounded(spansUrl: string) {
  const env = testEnvironment(dataDir.path, { SPANWAY_LOG_LEVEL: "info", SPANWAY_SPANS_URL: spansUrl });
  const { child, stderr } = spawnBounded(env, ...programs.main);
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /"url":"([^"]+)","msg":"Spanway is listening"/.exec(line)?.[1];
    if (url === undefined) continue;
    child.stdout.resume();
    return { child, prod: createClient(url, testKeys.prod), stderr };
  }
  throw new Error("the server did not start");
}

/** A few large entries among small ones: the freed space is fragmented. */
const spans = Array.from({ length: 60 }, (_, i): Row => ({
  log_type: "chat",
  custom_identifier: `${i}`,
  input: "x".repeat(i % 5 === 0 ? largeChars : 100_000),
  ...(i % 2 === 0 && { trace_unique_id: "t", span_unique_id: `${i}` }),
}));

test("on a full disk the server refuses only spans that do not fit, keeps running and loses no accepted span", async () => {
  clickHouse = await startTestClickHouse();
  const { child, prod, stderr } = await startBounded(clickHouse.url);
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
  // In the second round the file has its maximum length from the start.
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
  const metrics = await prod.get("/metrics");
  expect(Number(/^spanway_journal_refusals_total (\d+)$/m.exec(metrics.text)?.[1])).toBeGreaterThanOrEqual(refused);
  const { results } = await listSpans(prod, { log_type: "chat" }, "page_size=1000");
  expect(results.map((row) => String(row["custom_identifier"])).sort()).toEqual([...accepted].sort());
  // LMDB prints to stderr when a disk refuses a write: its memory is damaged from then on.
  expect(stderr()).toBe("");
  child.kill("SIGTERM");
  expect((await exited)[0]).toBe(0);
}, 60_000);

test.for(["1", "2", "4"])(
  "no write of LMDB fails, in any order of writes and removals, and removed entries free space (%s)",
  async (seed) => {
    const folder = newDataDir();
    try {
      const { child, stderr } = spawnBounded({}, journalAlone, folder.path, seed);
      const [output] = await Promise.all([text(child.stdout), once(child, "close")]);
      expect(stderr()).toBe("");
      const { taken, refused, wrong, isBack } = JSON.parse(output) as Row;
      expect({ wrong, isBack }).toEqual({ wrong: 0, isBack: true });
      expect(taken).toBeGreaterThan(150);
      expect(refused).toBeGreaterThanOrEqual(4);
    } finally {
      await folder.remove();
    }
  },
);
