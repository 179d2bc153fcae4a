import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Agent } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { benchFolder, startBenchServer, untilReady, type BenchServer } from "./lib/bench-server.ts";
import { anonymousMib } from "./lib/cores.ts";
import { machine, percentile, round } from "./lib/figures.ts";
import { post } from "./lib/post.ts";
import { realTexts } from "./lib/real-texts.ts";
import { bulkBodies } from "./lib/span-bodies.ts";

const mib = (bytes: number | undefined): number => Math.round((bytes ?? 0) / 2 ** 20);

/**
 * Time from start to ready as users start it, on an empty folder and on the same folder again, and idle memory. Then
 * memory after ordinary work and after bulk bodies of 50 MB, of a server that runs its sources.
 */
export async function run(options: Map<string, string>): Promise<object> {
  const starts = Number(options.get("starts") ?? 5);
  const [first, again]: [Start[], Start[]] = [[], []];
  for (let i = 0; i < starts; i += 1) {
    const folder = benchFolder();
    first.push(await startOnce(folder.path));
    again.push(await startOnce(folder.path));
    folder.remove();
  }

  const folder = benchFolder();
  const server = await startBenchServer(folder.path);
  const texts = realTexts();
  // Engines allocate memory at the first work and keep it: later figures are compared with this one.
  await postAll(server, bulkBodies({ texts, bodies: 80, rowsPerBody: 500, payloadChars: 2000, seed: 4 }));
  const warmBytes = await settledBytes(server);
  const warmAnonymous = anonymousMib(server.child.pid ?? 0);

  // 500 rows of 100 KB are 50 MB.
  const bodies = [...bulkBodies({ texts, bodies: 1, rowsPerBody: 500, payloadChars: 100_000, seed: 3 })];
  const after: number[] = [];
  for (let i = 0; i < 6; i += 1) {
    await postAll(server, bodies);
    after.push((await server.send({ kind: "memory" })).rssBytes ?? 0);
  }
  const leftBytes = await settledBytes(server);
  const leftAnonymous = anonymousMib(server.child.pid ?? 0);
  await server.stop();
  folder.remove();
  return {
    machine: machine(),
    first: figures(first),
    again: figures(again),
    rss_mib_30_s_after_ordinary_work: mib(warmBytes),
    body_mb: round((bodies[0]?.byteLength ?? 0) / 1e6, 1),
    rss_mib_after_each_body: after.map(mib),
    rss_mib_30_s_after_the_last: mib(leftBytes),
    // Excludes pages of mapped files, which the system reclaims when it needs memory.
    anonymous_mib_30_s_after: { ordinary_work: round(warmAnonymous, 0), the_last: round(leftAnonymous, 0) },
  };
}

type Start = { readyMs: number; idleRssMib: number };

/** `npm start`: the time until spans can be read, and resident memory three seconds later. */
async function startOnce(dataDir: string): Promise<Start> {
  const started = performance.now();
  const launcher = join(import.meta.dirname, "../server/run.mjs");
  const child = spawn(process.execPath, ["--max-semi-space-size=32", launcher, "main"], {
    env: { ...process.env, SPANWAY_DATA_DIR: dataDir, SPANWAY_PORT: "0", SPANWAY_LOG_LEVEL: "info" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /"url":"([^"]+)","msg":"Spanway is listening"/.exec(line)?.[1];
    if (url === undefined) continue;
    await untilReady(url);
    break;
  }
  const readyMs = performance.now() - started;
  child.stdout.resume();
  await sleep(3000);
  const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
  const exited = once(child, "exit");
  child.kill("SIGINT");
  await exited;
  return { readyMs, idleRssMib: Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024 };
}

function figures(starts: Start[]): object {
  const readyMs = starts.map((start) => start.readyMs);
  return {
    ready_ms_best: round(Math.min(...readyMs), 0),
    ready_ms_p50: round(percentile(readyMs, 0.5), 0),
    idle_rss_mib: round(
      percentile(
        starts.map(({ idleRssMib }) => idleRssMib),
        0.5,
      ),
      0,
    ),
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

/** Resident memory after half a minute without requests. */
async function settledBytes(server: BenchServer): Promise<number> {
  await sleep(25_000);
  await server.send({ kind: "memory" });
  await sleep(5000);
  return (await server.send({ kind: "memory" })).rssBytes ?? 0;
}
