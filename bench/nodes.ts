import { cpus } from "node:os";
import { startBenchNodes } from "./lib/bench-nodes.ts";
import type { BenchServer } from "./lib/bench-server.ts";
import { inParallel, machine, percentile, round } from "./lib/figures.ts";
import { realTexts } from "./lib/real-texts.ts";
import { bulkBodies } from "./lib/span-bodies.ts";

/**
 * Bulk ingest by one node and by two, over one ClickHouse and one Postgres, alternating; a run ends when every row is
 * stored and counted. Each node runs for only `--share` of the time, so that the nodes are the bottleneck and not the
 * machine that all share.
 * `--spans-url` names your ClickHouse; otherwise it is chDB behind HTTP, in a separate process. The Postgres is that of
 * `scripts/test-services.sh`.
 */
export async function run(options: Map<string, string>): Promise<object> {
  const rows = Number(options.get("rows") ?? 20_000);
  const rounds = Number(options.get("rounds") ?? 3);
  const share = Number(options.get("share") ?? 0.25);
  const bodies = bulkBodies({
    texts: realTexts(),
    bodies: Math.ceil(rows / rowsPerBody),
    rowsPerBody,
    payloadChars: 1750,
    seed: 1,
  });
  const results = new Map<number, Result[]>([
    [1, []],
    [2, []],
  ]);
  for (let turn = 0; turn < rounds; turn += 1) {
    for (const [nodes, list] of results) {
      const result = await ingest({ nodes, bodies, share, spansUrl: options.get("spans-url") ?? "stand-in" });
      list.push(result);
      console.log(`${nodes} nodes: ${JSON.stringify(result)}`);
    }
  }
  const median = (nodes: number, figure: keyof Result) =>
    percentile(
      (results.get(nodes) ?? []).map((result) => result[figure]),
      0.5,
    );
  return {
    machine: machine(),
    rows: bodies.length * rowsPerBody,
    share,
    one_node_spans_per_s: median(1, "spansPerS"),
    two_nodes_spans_per_s: median(2, "spansPerS"),
    ratio: round(median(2, "spansPerS") / median(1, "spansPerS")),
    one_node_us_per_span: median(1, "nodeUsPerSpan"),
    two_nodes_us_per_span: median(2, "nodeUsPerSpan"),
    machine_busy_with_one: median(1, "machineBusy"),
    machine_busy_with_two: median(2, "machineBusy"),
  };
}

const rowsPerBody = 500;
const concurrencyPerNode = 3;

/** `nodeUsPerSpan`: processor time of all nodes; `machineBusy`: of all cores, by any process. */
type Result = { spansPerS: number; nodeUsPerSpan: number; machineBusy: number };

async function ingest(setup: {
  nodes: number;
  bodies: readonly Buffer[];
  share: number;
  spansUrl: string;
}): Promise<Result> {
  const nodes = await startBenchNodes(setup.nodes, setup.spansUrl);
  const limited = nodes.servers.map((server) => limit(server, setup.share));
  const width = concurrencyPerNode * setup.nodes;
  // The steady rate is measured: the first requests run code that is not compiled yet.
  await inParallel(setup.bodies.slice(0, 10 * setup.nodes).map(withoutTraces), width, nodes.sendBulk);
  await nodes.stored();

  const [nodeMs, busy, startedMs] = [await nodes.usedMs(), machineTime(), performance.now()];
  await inParallel(setup.bodies, width, nodes.sendBulk);
  await nodes.stored();
  const seconds = (performance.now() - startedMs) / 1000;
  const rows = setup.bodies.length * rowsPerBody;
  const result = {
    spansPerS: Math.round(rows / seconds),
    nodeUsPerSpan: round((((await nodes.usedMs()) - nodeMs) * 1000) / rows, 1),
    machineBusy: round((machineTime() - busy) / (seconds * 1000 * cpus().length)),
  };
  for (const stopLimiting of limited) stopLimiting();
  await nodes.stop();
  return result;
}

const periodMs = 20;

/** Lets a process run for a part of each period. */
function limit({ child }: BenchServer, share: number): () => void {
  if (share >= 1) return () => undefined;
  const timer = setInterval(() => {
    child.kill("SIGCONT");
    setTimeout(() => child.kill("SIGSTOP"), periodMs * share);
  }, periodMs);
  return () => {
    clearInterval(timer);
    setTimeout(() => child.kill("SIGCONT"), periodMs);
  };
}

function withoutTraces(body: Buffer): Buffer {
  return Buffer.from(body.toString().replaceAll("trace_unique_id", "custom_identifier"));
}

function machineTime(): number {
  return cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0);
}
