import { randomUUID } from "node:crypto";
import { spansLocation } from "../server/src/config/locations.ts";
import { openSpanDatabase } from "../server/src/storage/spans/clickhouse-span-store.ts";
import { startBenchNodes } from "./lib/bench-nodes.ts";
import { cpuSeconds } from "./lib/cores.ts";
import { inParallel, machine, percentile, round } from "./lib/figures.ts";
import { realTexts } from "./lib/real-texts.ts";
import { bulkBodies } from "./lib/span-bodies.ts";

/**
 * The cost of an identity that nodes share: bulk ingest by two nodes of spans without trace and time, with an
 * `Idempotency-Key` for each request and without, alternating. `--nodes 1` uses one node, and `--spans-url embedded`
 * its own store. `--stored 2000000` has so many spans of the last ten days in the store before.
 */
export async function run(options: Map<string, string>): Promise<object> {
  const rows = Number(options.get("rows") ?? 40_000);
  const rounds = Number(options.get("rounds") ?? 3);
  const nodes = Number(options.get("nodes") ?? 2);
  const spansUrl = options.get("spans-url") ?? "stand-in";
  const stored = Number(options.get("stored") ?? 0);
  const texts = realTexts();
  const made = bulkBodies({ texts, bodies: Math.ceil(rows / rowsPerBody), rowsPerBody, payloadChars: 1750, seed: 1 });
  const bodies = made.map(withoutIdentity);
  const ratios: number[] = [];
  for (let turn = 0; turn < rounds; turn += 1) {
    const plain = await ingest({ nodes, bodies, spansUrl, stored, isKeyed: false });
    const keyed = await ingest({ nodes, bodies, spansUrl, stored, isKeyed: true });
    ratios.push(keyed.usPerSpan / plain.usPerSpan);
    console.log(JSON.stringify({ plain, keyed, ratio: round(ratios.at(-1) ?? 0) }));
  }
  return { machine: machine(), rows: bodies.length * rowsPerBody, nodes, ratio: round(percentile(ratios, 0.5)) };
}

const rowsPerBody = 500;

/** Processor time per span: of nodes and store together, and of the nodes only. */
type Result = { usPerSpan: number; nodeUsPerSpan: number; seconds: number };

async function ingest(setup: {
  nodes: number;
  bodies: readonly Buffer[];
  spansUrl: string;
  stored: number;
  isKeyed: boolean;
}): Promise<Result> {
  const { bodies, isKeyed } = setup;
  const nodes = await startBenchNodes(setup.nodes, setup.spansUrl);
  if (setup.stored > 0) await fill(nodes.spans.environment["SPANWAY_SPANS_URL"] ?? "", setup.stored);
  const send = (body: Buffer, index: number): Promise<void> =>
    nodes.sendBulk(body, index, isKeyed ? { "idempotency-key": randomUUID() } : undefined);
  const used = async () => (await nodes.usedMs()) / 1000;
  const stored = () => (nodes.spans.pid === undefined ? 0 : cpuSeconds(nodes.spans.pid));
  await inParallel(bodies.slice(0, 20), 4, send);
  await nodes.stored();

  const [nodeS, storeS, startedMs] = [await used(), stored(), performance.now()];
  await inParallel(bodies, 4, send);
  await nodes.stored();
  const seconds = (performance.now() - startedMs) / 1000;
  const [nodeUsed, storeUsed] = [(await used()) - nodeS, stored() - storeS];
  const perSpan = (value: number) => round((value * 1e6) / (bodies.length * rowsPerBody), 1);
  await nodes.stop();
  return { usPerSpan: perSpan(nodeUsed + storeUsed), nodeUsPerSpan: perSpan(nodeUsed), seconds: round(seconds) };
}

/** Stores small spans of the last ten days, at even distances, in ten parts. */
async function fill(spansUrl: string, rows: number): Promise<void> {
  const database = openSpanDatabase(spansLocation(spansUrl));
  const msPerRow = (10 * 24 * 3_600_000) / rows;
  for (let part = 0; part < 10; part += 1) {
    const ended = `now64(9) - toIntervalMillisecond(toInt64((number * 10 + ${part}) * ${msPerRow}))`;
    const sql = `INSERT INTO spans (organization_id, environment, timestamp, received_at, unique_id, version, log_type, input)
      SELECT 'org_bench', 'prod', ${ended} AS ended, ended, generateUUIDv4(number), number, 'chat', 'x' FROM numbers(${rows / 10})`;
    await database.execute({ name: "bench", sql });
  }
  await database.close();
}

/** Without trace and time, only the key of its request identifies a span. */
function withoutIdentity(body: Buffer): Buffer {
  const { logs } = JSON.parse(body.toString()) as { logs: Record<string, unknown>[] };
  const named = new Set(["trace_unique_id", "span_unique_id", "timestamp", "start_time"]);
  const bare = logs.map((log) => Object.fromEntries(Object.entries(log).filter(([name]) => !named.has(name))));
  return Buffer.from(JSON.stringify({ logs: bare }));
}
