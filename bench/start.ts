import { setTimeout as sleep } from "node:timers/promises";
import { benchFolder, benchKey, startBenchServer } from "./lib/bench-server.ts";
import { machine, percentile, round } from "./lib/figures.ts";
import { realTexts } from "./lib/real-texts.ts";
import { bulkBodies } from "./lib/span-bodies.ts";

/** Start to ready on an empty folder, memory when idle, and memory after bulk bodies of 50 MB. */
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
  // 500 rows of 100 KB are 50 MB.
  const [body] = bulkBodies({ texts: realTexts(), bodies: 1, rowsPerBody: 500, payloadChars: 100_000, seed: 3 });
  if (body === undefined) throw new Error("no body");
  let peakBytes = 0;
  const after: number[] = [];
  for (let i = 0; i < 6; i += 1) {
    const response = await fetch(`${server.url}/api/request-logs/bulk/`, {
      method: "POST",
      headers: { authorization: `Bearer ${benchKey}`, "content-type": "application/json" },
      body: new Uint8Array(body),
    });
    if (response.status !== 201) throw new Error(`bulk answered ${response.status}: ${await response.text()}`);
    await response.arrayBuffer();
    peakBytes = Math.max(peakBytes, (await server.ask({ ask: "memory" })).rssBytes ?? 0);
    await sleep(3000);
    after.push((await server.ask({ ask: "memory" })).rssBytes ?? 0);
  }
  await server.stop();
  folder.remove();

  const mib = (bytes: number | undefined): number => Math.round((bytes ?? 0) / 2 ** 20);
  return {
    machine: machine(),
    ready_ms_p50: round(percentile(readyMs, 0.5), 0),
    ready_ms_max: round(Math.max(...readyMs), 0),
    idle_rss_mib: mib(idle.rssBytes),
    body_mb: round(body.byteLength / 1e6, 1),
    peak_rss_mib: mib(peakBytes),
    rss_mib_after_each_body: after.map(mib),
  };
}
