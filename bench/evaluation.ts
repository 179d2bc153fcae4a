import { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { SpanRow } from "../server/src/domain/span.ts";
import { compilePolicy } from "../server/src/evaluation/read-policy.ts";
import { createSpanCatalogue } from "../server/src/filter/span-fields.ts";
import { benchFolder, benchKey, startBenchServer, type BenchServer } from "./lib/bench-server.ts";
import { inParallel, machine, round } from "./lib/figures.ts";
import { post } from "./lib/post.ts";
import { realTexts } from "./lib/real-texts.ts";
import { bulkBodies } from "./lib/span-bodies.ts";

/**
 * Bulk ingest with one automation that judges every log by code, against the same without it, side by side; the time
 * until all of 10,000 logs are judged; and the cost of matching a condition per rule and row.
 */
export async function run(options: Map<string, string>): Promise<object> {
  const rows = Number(options.get("rows") ?? 40_000);
  const judged = Number(options.get("judged") ?? 10_000);
  const rowsPerBody = 500;
  const texts = realTexts();
  const bodies = bulkBodies({ texts, bodies: Math.ceil(rows / rowsPerBody), rowsPerBody, payloadChars: 1750, seed: 1 });

  const without: Ingest[] = [];
  const withOne: Ingest[] = [];
  for (let repeat = 0; repeat < Number(options.get("repeats") ?? 2); repeat += 1) {
    without.push(await ingest(bodies, false));
    withOne.push(await ingest(bodies, true));
    console.log("without", without.at(-1), "with", withOne.at(-1));
  }
  const best = (runs: readonly Ingest[], figure: keyof Ingest, pick = Math.min) =>
    pick(...runs.map((run) => run[figure]));
  const rates = [best(without, "rowsPerS", Math.max), best(withOne, "rowsPerS", Math.max)] as const;
  const seconds = await judgeSeconds(bodies.slice(0, Math.ceil(judged / rowsPerBody)), judged);
  console.log(`${judged} logs judged ${round(seconds)} s after the first was sent`);
  return {
    machine: machine(),
    rows,
    bulk_spans_per_s_without: Math.round(rates[0]),
    bulk_spans_per_s_with_automation: Math.round(rates[1]),
    ratio: round(rates[1] / rates[0], 3),
    main_thread_us_per_row_without: round(best(without, "mainThreadUs")),
    main_thread_us_per_row_with_automation: round(best(withOne, "mainThreadUs")),
    process_us_per_row_without: round(best(without, "processUs")),
    process_us_per_row_with_automation: round(best(withOne, "processUs")),
    judged,
    judged_after_s: round(seconds),
    condition_us_per_rule_and_row: round(conditionUs(), 3),
  };
}

/** CPU time is more meaningful than the rate if the machine has other work. */
type Ingest = { rowsPerS: number; mainThreadUs: number; processUs: number };

async function ingest(bodies: readonly Buffer[], isJudged: boolean): Promise<Ingest> {
  return withServer(isJudged, async (server, agent) => {
    const total = bodies.length * 500;
    const before = await server.send({ kind: "cpu" });
    const started = performance.now();
    await sendAll(server, agent, bodies);
    for (;;) {
      const { text } = await post(
        agent,
        `${server.url}/api/request-logs/summary/?start_time=2020-01-01`,
        Buffer.from("{}"),
      );
      if ((JSON.parse(text) as { number_of_requests: number }).number_of_requests >= total) break;
      await sleep(20);
    }
    const seconds = (performance.now() - started) / 1000;
    const after = await server.send({ kind: "cpu" });
    const spentUs = (figure: "mainThreadMs" | "processMs") =>
      round((((after[figure] ?? 0) - (before[figure] ?? 0)) * 1000) / total);
    return { rowsPerS: total / seconds, mainThreadUs: spentUs("mainThreadMs"), processUs: spentUs("processMs") };
  });
}

async function judgeSeconds(bodies: readonly Buffer[], logs: number): Promise<number> {
  return withServer(true, async (server, agent) => {
    const started = performance.now();
    await sendAll(server, agent, bodies);
    for (;;) {
      const { text } = await post(agent, `${server.url}/api/scores/list/?page_size=1`, Buffer.alloc(0));
      if ((JSON.parse(text) as { count: number }).count >= logs) break;
      await sleep(200);
    }
    return (performance.now() - started) / 1000;
  });
}

async function withServer<T>(isJudged: boolean, work: (server: BenchServer, agent: Agent) => Promise<T>): Promise<T> {
  const folder = benchFolder();
  const server = await startBenchServer(folder.path);
  const agent = new Agent({ keepAlive: true });
  try {
    if (isJudged) await makeAutomation(server);
    return await work(server, agent);
  } finally {
    agent.destroy();
    await server.stop();
    folder.remove();
  }
}

async function sendAll(server: BenchServer, agent: Agent, bodies: readonly Buffer[]): Promise<void> {
  await inParallel(bodies, 4, async (body) => {
    const { status } = await post(agent, `${server.url}/api/request-logs/bulk/`, body);
    if (status !== 201) throw new Error(`bulk answered ${status}`);
  });
}

async function makeAutomation({ url }: BenchServer): Promise<void> {
  const create = async (path: string, body: object): Promise<string> => {
    const response = await fetch(`${url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${benchKey}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (response.status !== 201) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return ((await response.json()) as { id: string }).id;
  };
  const condition = await create("/api/conditions/", {
    name: "All",
    condition_slug: "all",
    condition_type: "single_log",
    condition_policy: { rules: [], connector: "AND" },
  });
  const evaluator = await create("/api/evaluators/", {
    name: "Length",
    type: "code",
    score_value_type: "numerical",
    code_config: { eval_code_snippet: "function main(inputs) { return inputs.output.length; }" },
  });
  await create("/api/automations/", {
    name: "Judge",
    automation_slug: "judge",
    automation_type: "online_eval",
    condition,
    evaluator_ids: [evaluator],
    configuration: { sampling_rate: 1 },
    is_enabled: true,
  });
}

/** Rules of each kind that conditions support, over rows of typical size. */
function conditionUs(): number {
  const rules = [
    { field: "status_code", operator: "equals", value: 200 },
    { field: "latency", operator: "less_than", value: 60 },
    { field: "total_tokens", operator: "greater_than", value: 1 },
    { field: "model", operator: "in", value: ["gpt-4o", "gpt-4o-mini"] },
    { field: "metadata.tier", operator: "equals", value: "paid" },
    { field: "output", operator: "not_contains", value: "I cannot help" },
  ];
  const matches = compilePolicy({ rules, connector: "AND" }, createSpanCatalogue());
  const text = realTexts().slice(0, 1).join(" ").slice(0, 1_750);
  const rows = Array.from({ length: 1_000 }, (_, i) => sampleRow(i, text));
  const rounds = 100;
  let matched = 0;
  for (let warmup = 0; warmup < 10; warmup += 1) for (const row of rows) matched += matches(row) ? 1 : 0;
  const started = performance.now();
  for (let i = 0; i < rounds; i += 1) for (const row of rows) matched += matches(row) ? 1 : 0;
  const us = (performance.now() - started) * 1000;
  if (matched !== (rounds + 10) * rows.length) throw new Error("a row did not match");
  return us / (rounds * rows.length * rules.length);
}

function sampleRow(i: number, output: string): SpanRow {
  return {
    organization_id: "org_bench",
    environment: "prod",
    timestamp: "2026-03-01 10:00:00.000000000",
    unique_id: `00000000-0000-4000-8000-${String(i).padStart(12, "0")}`,
    version: "1",
    status_code: 200,
    latency: 1.5,
    total_tokens: 100 + i,
    model: "gpt-4o",
    metadata_index: { tier: "paid", user: `u${i}` },
    output,
  };
}
