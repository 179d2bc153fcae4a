import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent } from "node:http";
import { benchFolder, startBenchServer, type BenchServer } from "./lib/bench-server.ts";
import { inParallel, machine, percentile, round } from "./lib/figures.ts";
import { post } from "./lib/post.ts";
import { realTexts } from "./lib/real-texts.ts";
import { bulkBodies } from "./lib/span-bodies.ts";
import { openSpansServer } from "./lib/spans-server.ts";

/**
 * Bulk ingest against inserting exactly the same rows, already encoded, directly into the same table.
 * Each has the whole machine, one after the other, twice; a run ends when every row is queryable. Then the latency of a
 * single span, and the time until a span is listed while bulk ingest runs at half its maximum rate.
 */
export async function run(options: Map<string, string>): Promise<object> {
  const rows = Number(options.get("rows") ?? 80_000);
  const concurrency = Number(options.get("concurrency") ?? 4);
  const spansUrl = options.get("spans-url");
  const rowsPerBody = 500;
  const texts = realTexts();
  const bodies = bulkBodies({ texts, bodies: Math.ceil(rows / rowsPerBody), rowsPerBody, payloadChars: 1750, seed: 1 });
  const bytes = bodies.reduce((sum, body) => sum + body.byteLength, 0);
  const total = bodies.length * rowsPerBody;
  console.log(`${total} rows of ${Math.round(bytes / total)} bytes`);

  const direct: number[] = [];
  const bulk: number[] = [];
  for (let round = 0; round < 2; round += 1) {
    direct.push(total / (await directSeconds(bodies, spansUrl)));
    bulk.push(total / (await bulkSeconds({ bodies, total, concurrency, spansUrl })));
    console.log(`direct ${Math.round(direct.at(-1) ?? 0)} rows/s, bulk ${Math.round(bulk.at(-1) ?? 0)} rows/s`);
  }
  const directRate = Math.max(...direct);
  const bulkRate = Math.max(...bulk);

  const folder = benchFolder();
  const spans = await openSpansServer(spansUrl);
  const server = await startBenchServer(folder.path, spans.environment);
  const alone = await singleLatency(server, 500);
  const half = bulkBodies({ texts, bodies: 60, rowsPerBody, payloadChars: 1750, seed: 2 });
  const visible = await visibility(server, half, bulkRate / 2);
  await server.stop();
  await spans.stop();
  folder.remove();

  return {
    machine: machine(),
    rows: total,
    bytes_per_row: Math.round(bytes / total),
    bulk_spans_per_s: Math.round(bulkRate),
    bulk_mb_per_s: round((bulkRate * bytes) / total / 1e6, 1),
    direct_rows_per_s: Math.round(directRate),
    ratio_to_direct: round(bulkRate / directRate, 3),
    single_ack_ms_p50: round(percentile(alone, 0.5)),
    single_ack_ms_p99: round(percentile(alone, 0.99)),
    visible_ms_p50: round(percentile(visible, 0.5)),
    visible_ms_p99: round(percentile(visible, 0.99)),
  };
}

const warmupBodies = 20;

/** The bodies go to a child process; only the insert of the rows it makes of them is timed. */
async function directSeconds(bodies: readonly Buffer[], spansUrl: string | undefined): Promise<number> {
  const folder = benchFolder();
  const spans = await openSpansServer(spansUrl);
  const url = spans.url ?? `chdb:${join(folder.path, "spans")}`;
  const child = fork(join(import.meta.dirname, "lib", "direct-insert-process.ts"), [url], {
    serialization: "advanced",
  });
  child.send(bodies);
  const [{ seconds }] = (await once(child, "message")) as [{ seconds: number }];
  await once(child, "exit");
  await spans.stop();
  folder.remove();
  return seconds;
}

async function bulkSeconds(setup: {
  bodies: readonly Buffer[];
  total: number;
  concurrency: number;
  spansUrl: string | undefined;
}): Promise<number> {
  const { bodies, total, concurrency } = setup;
  const folder = benchFolder();
  const spans = await openSpansServer(setup.spansUrl);
  const server = await startBenchServer(folder.path, spans.environment);
  const agent = new Agent({ keepAlive: true });
  const send = async (body: Buffer): Promise<void> => {
    const { status } = await post(agent, `${server.url}/api/request-logs/bulk/`, body);
    if (status !== 201) throw new Error(`bulk answered ${status}`);
  };
  // The steady rate is measured: the first requests run code that is not compiled yet.
  const warmup = bodies
    .slice(0, warmupBodies)
    .map((body) => Buffer.from(body.toString().replaceAll("trace_unique_id", "custom_identifier")));
  await inParallel(warmup, concurrency, send);
  const before = warmup.length * 500;
  while ((await countSpans(agent, server)) < before) await sleep(20);

  const started = performance.now();
  await inParallel(bodies, concurrency, send);
  const accepted = performance.now();
  while ((await countSpans(agent, server)) < before + total) await sleep(20);
  const seconds = (performance.now() - started) / 1000;
  console.log(`  accepted after ${round((accepted - started) / 1000)} s, queryable after ${round(seconds)} s`);
  agent.destroy();
  await server.stop();
  await spans.stop();
  folder.remove();
  return seconds;
}

async function countSpans(agent: Agent, server: BenchServer): Promise<number> {
  const { text } = await post(
    agent,
    `${server.url}/api/request-logs/summary/?start_time=2020-01-01`,
    Buffer.from("{}"),
  );
  return (JSON.parse(text) as { number_of_requests: number }).number_of_requests;
}

const oneSpan = (id: string): Buffer =>
  Buffer.from(
    JSON.stringify({
      model: "gpt-4o",
      prompt_messages: [{ role: "user", content: "What is the capital of France?" }],
      completion_message: { role: "assistant", content: "Paris." },
      prompt_tokens: 14,
      completion_tokens: 2,
      custom_identifier: id,
    }),
  );

async function singleLatency(server: BenchServer, times: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true });
  const latencies: number[] = [];
  for (let i = 0; i < times; i += 1) {
    const started = performance.now();
    await post(agent, `${server.url}/api/request-logs/`, oneSpan(`alone_${i}`));
    if (i >= 50) latencies.push(performance.now() - started);
  }
  agent.destroy();
  return latencies;
}

/** The time from the 201 of a span to the list that contains it. */
async function visibility(server: BenchServer, bodies: readonly Buffer[], rowsPerS: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true });
  const delays: number[] = [];
  const done = new AbortController();
  const load = async (): Promise<void> => {
    const everyMs = (500 / rowsPerS) * 1000;
    const started = performance.now();
    const pending = bodies.map(async (body, index) => {
      await sleep(index * everyMs);
      await post(agent, `${server.url}/api/request-logs/bulk/`, body);
    });
    await Promise.all(pending);
    console.log(
      `  ${Math.round((bodies.length * 500) / ((performance.now() - started) / 1000))} rows/s beside the visibility probe`,
    );
    done.abort();
  };
  const probe = async (): Promise<void> => {
    for (let i = 0; !done.signal.aborted; i += 1) {
      const id = `visible_${i}`;
      await post(agent, `${server.url}/api/request-logs/`, oneSpan(id));
      const acknowledged = performance.now();
      const filter = Buffer.from(JSON.stringify({ filters: { custom_identifier: { value: [id] } } }));
      for (;;) {
        const { text } = await post(
          agent,
          `${server.url}/api/request-logs/list/?page_size=1&include_fields=id`,
          filter,
        );
        if ((JSON.parse(text) as { count: number }).count > 0) break;
        await sleep(10);
      }
      delays.push(performance.now() - acknowledged);
    }
  };
  await Promise.all([load(), probe()]);
  agent.destroy();
  return delays;
}
