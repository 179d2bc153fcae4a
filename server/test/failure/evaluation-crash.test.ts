import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { eventually, newAutomation, newEvaluator } from "../support/evaluation.ts";
import { newDataDir, startServerProcess } from "../support/server-process.ts";
import type { ListAnswer, Row, TestClient } from "../support/test-client.ts";

const dataDir = newDataDir();
afterAll(() => dataDir.remove());

const rounds = 4;
const rowsPerRequest = 50;

/** All scores, by the id of their log. */
async function scoredLogs(client: TestClient): Promise<string[]> {
  const logs: string[] = [];
  for (let page = 1; ; page += 1) {
    const { results, next } = (await client.get(`/api/scores/?page_size=100&page=${page}`)).json as ListAnswer;
    logs.push(...results.map((score) => String(score["log_id"])));
    if (next === null) return logs;
  }
}

test(`after ${rounds} kills during evaluation every log accepted before has exactly one score`, async () => {
  let automation: Row | undefined;
  for (let round = 0; round < rounds; round += 1) {
    const server = await startServerProcess(dataDir.path);
    // Slow enough that each kill finds runs in progress.
    const slow = "function main(i) { let n = 0; for (let k = 0; k < 2e5; k++) n += k % 7; return i.output.length }";
    automation ??= await newAutomation(server.prod, {
      evaluator_ids: [(await newEvaluator(server.prod, { code_config: { eval_code_snippet: slow } }))["id"]],
    });
    const logs = Array.from({ length: rowsPerRequest }, (_, i) => ({
      output: "x".repeat(i + 1),
      custom_identifier: "judged",
    }));
    const answer = await server.prod.post("/api/request-logs/bulk/", { logs });
    expect(answer.json).toMatchObject({ success_count: rowsPerRequest });
    await sleep(Math.random() * 600);
    await server.kill("SIGKILL");
  }
  const server = await startServerProcess(dataDir.path);
  const total = rounds * rowsPerRequest;
  await eventually(async () => {
    const { count } = (await server.prod.get("/api/scores/")).json as ListAnswer;
    return count >= total ? count : undefined;
  });
  const logs = await scoredLogs(server.prod);
  expect(logs).toHaveLength(total);
  expect(new Set(logs).size).toBe(total);
  const evaluator = String((automation!["evaluator_ids"] as string[])[0]);
  const found = await eventually(async () => {
    const list = await server.prod.list({ [`scores__${evaluator}`]: { operator: "gte", value: [1] } });
    return list.count === total ? list : undefined;
  });
  expect(found.count).toBe(total);
  await server.kill("SIGTERM");
}, 90_000);

test("K4: an evaluation that kills its node every time fails with a reason, and affects no other", async () => {
  const folder = newDataDir();
  // Longer than each of these nodes runs.
  const env = { SPANWAY_EVALUATOR_CPU_MS: "60000" };
  let server = await startServerProcess(folder.path, env);
  const evaluatorOf = async (snippet: string) =>
    String((await newEvaluator(server.prod, { code_config: { eval_code_snippet: snippet } }))["id"]);
  const deadly = "function main(i) { while (i.output === 'deadly'); return i.output.length }";
  await newAutomation(server.prod, { evaluator_ids: [await evaluatorOf(deadly)] });
  const logs = ["deadly", ...Array.from({ length: 20 }, () => "harmless")];
  await server.prod.post("/api/request-logs/bulk/", {
    logs: logs.map((output) => ({ output, custom_identifier: "judged" })),
  });
  let crashes = 0;
  for (; crashes < 10 && (await failure(server.prod)) === undefined; crashes += 1) {
    // Time for the harmless evaluations; the deadly one is in progress at the end, unless it has failed.
    await sleep(1_500);
    await server.kill("SIGKILL");
    server = await startServerProcess(folder.path, env);
    await sleep(500);
  }
  const scores = await eventually(async () => {
    const { results, count } = (await server.prod.get("/api/scores/?page_size=100")).json as ListAnswer;
    return count === logs.length ? results : undefined;
  });
  expect(scores.filter(({ status }) => status === "failed")).toMatchObject([
    { error_message: "the server ended 4 times while it made this evaluation" },
  ]);
  expect(crashes).toBeLessThan(10);
  await server.kill("SIGTERM");
  await folder.remove();
}, 90_000);

async function failure(client: TestClient): Promise<Row | undefined> {
  const { results } = (await client.get("/api/scores/?page_size=100")).json as ListAnswer;
  return results.find(({ status }) => status === "failed");
}
