import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { Agent } from "node:http";
import { join } from "node:path";
import { benchFolder, benchKey, startBenchServer, type BenchServer } from "./lib/bench-server.ts";
import { inParallel, machine, round } from "./lib/figures.ts";
import { post as send } from "./lib/post.ts";
import { realTexts } from "./lib/real-texts.ts";
import { bulkBodies } from "./lib/span-bodies.ts";

/**
 * Exports of all spans of an organization over HTTP, against the engine writing the same rows to a file on the same
 * disk, alternating in one process; and the growth of the server's memory meanwhile. Then bulk ingest alone and during
 * exports, alternating: it adds its rows to the table. `--data FOLDER` keeps the table for the next run, `--formats`
 * (jsonl,csv,parquet) measures only some.
 */
export async function run(options: Map<string, string>): Promise<object> {
  const rows = Number(options.get("rows") ?? 1_000_000);
  const times = Number(options.get("times") ?? 3);
  const reused = options.get("data");
  const folder = reused === undefined ? benchFolder() : { path: reused, remove: () => undefined };
  if (!existsSync(join(folder.path, "spans"))) await fill(folder.path, rows);

  const server = await startBenchServer(folder.path);
  const spans = await countSpans(server);
  const figures: Record<string, object> = {};
  const wanted = options.get("formats")?.split(",");
  const formats = allFormats.filter(({ name }) => wanted?.includes(name) ?? true);
  for (const format of formats) {
    const exported: Export[] = [];
    const written: number[] = [];
    for (let i = 0; i <= times; i += 1) {
      const one = await exportSpans(server, format.name);
      const file = join(folder.path, `written.${format.name}`);
      const { ms } = await server.send({
        kind: "sql",
        sql: `INSERT INTO FUNCTION file('${file}', '${format.engine}') ${allRows}`,
      });
      await rm(file);
      // The first run of each warms the caches.
      if (i === 0) continue;
      exported.push(one);
      written.push(ms);
    }
    const exportMs = median(exported.map(({ ms }) => ms));
    const fileMs = median(written);
    figures[format.name] = {
      spans_per_s: round(spans / (exportMs / 1000), 0),
      mb_per_s: round((exported[0]?.bytes ?? 0) / 1e3 / exportMs, 0),
      engine_spans_per_s: round(spans / (fileMs / 1000), 0),
      ratio: round(fileMs / exportMs),
      first_byte_ms: round(median(exported.map(({ firstMs }) => firstMs)), 0),
      memory_rise_mb: round(Math.max(...exported.map(({ riseBytes }) => riseBytes)) / 1e6, 0),
    };
    console.log(format.name, JSON.stringify(figures[format.name]));
  }
  const ingest = await ingestBeside(server, Number(options.get("ingest") ?? 40_000), formats);
  await server.stop();
  folder.remove();
  return { machine: machine(), spans, ...figures, ingest };
}

/** Bulk ingest of this many rows, until they are on disk. */
async function ingestBeside(server: BenchServer, rows: number, formats: typeof allFormats): Promise<object> {
  const texts = realTexts();
  const agent = new Agent({ keepAlive: true });
  let seed = Date.now();
  const ratePerS = async (): Promise<number> => {
    seed += 1;
    const bodies = bulkBodies({ texts, bodies: rows / 500, rowsPerBody: 500, payloadChars: 1750, seed });
    const started = performance.now();
    await inParallel(bodies, 4, async (body) => {
      const { status } = await send(agent, `${server.url}/api/request-logs/bulk/`, body);
      if (status !== 201) throw new Error(`bulk answered ${status}`);
    });
    return rows / ((performance.now() - started) / 1000);
  };
  await ratePerS();
  const alone: number[] = [];
  const beside: number[] = [];
  for (const { name } of formats) {
    alone.push(await ratePerS());
    let isOver = false;
    const exporting = (async () => {
      while (!isOver) await exportSpans(server, name, () => isOver);
    })();
    beside.push(await ratePerS());
    isOver = true;
    await exporting;
  }
  agent.destroy();
  const figures = {
    rows_per_s: round(median(alone), 0),
    ...Object.fromEntries(formats.map(({ name }, i) => [`beside_${name}`, round((beside[i] ?? 0) / median(alone))])),
  };
  console.log("ingest", JSON.stringify(figures));
  return figures;
}

const allFormats = [
  { name: "jsonl", engine: "JSONEachRow" },
  { name: "csv", engine: "CSVWithNames" },
  { name: "parquet", engine: "Parquet" },
];

const allRows = "SELECT * FROM spans WHERE organization_id = 'org_bench'";

async function fill(path: string, rows: number): Promise<void> {
  mkdirSync(path, { recursive: true });
  const child = fork(join(import.meta.dirname, "lib", "fill-table-process.ts"), [
    `chdb:${join(path, "spans")}`,
    String(rows),
  ]);
  const [code] = (await once(child, "exit")) as [number];
  if (code !== 0) throw new Error("the table could not be filled");
}

type Export = { ms: number; firstMs: number; bytes: number; riseBytes: number };

async function exportSpans(server: BenchServer, format: string, isEnough = () => false): Promise<Export> {
  await server.send({ kind: "memory" });
  // The server does it every 20 s. Without it, memory that earlier statements freed would hide what this one takes.
  await server.send({ kind: "sql", sql: "SYSTEM JEMALLOC PURGE" });
  const before = rssOf(server);
  let most = before;
  const watch = setInterval(() => (most = Math.max(most, rssOf(server))), 20);
  const started = performance.now();
  const response = await post(server, `/api/request-logs/export/?start_time=2020-01-01&format=${format}`, "identity");
  let bytes = 0;
  let firstMs = Number.NaN;
  for await (const piece of response.body ?? []) {
    if (bytes === 0) firstMs = performance.now() - started;
    bytes += (piece as Uint8Array).length;
    if (isEnough()) break;
  }
  clearInterval(watch);
  return { ms: performance.now() - started, firstMs, bytes, riseBytes: most - before };
}

async function countSpans(server: BenchServer): Promise<number> {
  const response = await post(server, "/api/request-logs/list/?start_time=2020-01-01&page_size=1");
  return ((await response.json()) as { count: number }).count;
}

async function post(server: BenchServer, path: string, encoding = "gzip"): Promise<Response> {
  const response = await fetch(server.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${benchKey}`, "accept-encoding": encoding },
  });
  if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  return response;
}

/** The resident memory of the server, as the system reports it. */
function rssOf({ child }: BenchServer): number {
  const [, pages = "0"] = readFileSync(`/proc/${child.pid}/statm`, "utf8").split(" ");
  return Number(pages) * 4096;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
