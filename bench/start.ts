import { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { benchFolder, startBenchServer, type BenchServer } from "./lib/bench-server.ts";
import { anonymousMib } from "./lib/cores.ts";
import { machine, percentile, round } from "./lib/figures.ts";
import { post } from "./lib/post.ts";
import { realTexts } from "./lib/real-texts.ts";
import { bulkBodies } from "./lib/span-bodies.ts";

const mib = (bytes: number | undefined): number => Math.round((bytes ?? 0) / 2 ** 20);

/** Start to ready on an empty folder; memory when idle, after ordinary work, and after bulk bodies of 50 MB. */
export async function run(options: Map<string, string>): Promise<object> {
  const starts = Number(options.get("starts") ?? 5);
  const readyMs: number[] = [];
  for (let i = 0; i < starts; i += 1) {
    const folder = benchFolder();
    const server = await startBenchServer(folder.path);
    readyMs.push(server.readyMs);
    await server.stop();
    folder.remove();
  }

  const folder = benchFolder();
  const server = await startBenchServer(folder.path);
  await sleep(3000);
  const idle = await server.ask({ ask: "memory" });
  const texts = realTexts();
  // Engines warm up with the first work, and keep that: bodies are held against this.
  await postAll(server, bulkBodies({ texts, bodies: 80, rowsPerBody: 500, payloadChars: 2000, seed: 4 }));
  const warmBytes = await settledBytes(server);
  const warmAnonymous = anonymousMib(server.child.pid ?? 0);

  // 500 rows of 100 KB are 50 MB.
  const bodies = [...bulkBodies({ texts, bodies: 1, rowsPerBody: 500, payloadChars: 100_000, seed: 3 })];
  const after: number[] = [];
  for (let i = 0; i < 6; i += 1) {
    await postAll(server, bodies);
    after.push((await server.ask({ ask: "memory" })).rssBytes ?? 0);
  }
  const leftBytes = await settledBytes(server);
  const leftAnonymous = anonymousMib(server.child.pid ?? 0);
  await server.stop();
  folder.remove();
  return {
    machine: machine(),
    ready_ms_p50: round(percentile(readyMs, 0.5), 0),
    ready_ms_max: round(Math.max(...readyMs), 0),
    idle_rss_mib: mib(idle.rssBytes),
    rss_mib_30_s_after_ordinary_work: mib(warmBytes),
    body_mb: round((bodies[0]?.byteLength ?? 0) / 1e6, 1),
    rss_mib_after_each_body: after.map(mib),
    rss_mib_30_s_after_the_last: mib(leftBytes),
    // Without pages of mapped files, which the system takes back when it needs room.
    anonymous_mib_30_s_after: { ordinary_work: round(warmAnonymous, 0), the_last: round(leftAnonymous, 0) },
  };
}

async function postAll(server: BenchServer, bodies: Iterable<Buffer>): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  for (const body of bodies) {
    const { status, text } = await post(agent, `${server.url}/api/request-logs/bulk/`, body);
    if (status !== 201) throw new Error(`bulk answered ${status}: ${text}`);
  }
  agent.destroy();
}

/** Resident memory once nothing has been asked of the server for half a minute. */
async function settledBytes(server: BenchServer): Promise<number> {
  await sleep(25_000);
  await server.ask({ ask: "memory" });
  await sleep(5000);
  return (await server.ask({ ask: "memory" })).rssBytes ?? 0;
}
