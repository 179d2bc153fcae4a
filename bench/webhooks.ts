import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { benchFolder, benchKey, startBenchServer, type BenchServer } from "./lib/bench-server.ts";
import { cpuSeconds, pinToMeasuredCore, pinToOtherCores } from "./lib/cores.ts";
import { machine, round } from "./lib/figures.ts";
import { post } from "./lib/post.ts";
import { realTexts } from "./lib/real-texts.ts";
import { bulkBodies } from "./lib/span-bodies.ts";

const rowsPerBody = 500;

/**
 * Deliveries of `request_log` to a receiver on this machine, by a server that has only one core; load and receiver use
 * the others. First the spans are ingested without webhooks, then similar spans with webhooks: the difference is the
 * cost of the deliveries.
 */
export async function run(options: Map<string, string>): Promise<object> {
  const deliveries = Number(options.get("deliveries") ?? 10_000);
  const webhooks = Number(options.get("webhooks") ?? 1);
  const spans = Math.ceil(deliveries / webhooks / rowsPerBody) * rowsPerBody;
  const expected = spans * webhooks;
  const receiver = await startReceiver();
  const folder = benchFolder();
  const server = await startBenchServer(folder.path, { SPANWAY_ALLOW_PRIVATE_UPSTREAMS: "127.0.0.1" });
  const pid = server.child.pid ?? 0;
  const isPinned = pinToMeasuredCore(pid) && pinToOtherCores(process.pid);
  const measure = async (seed: number, isDone: () => boolean | Promise<boolean>) => {
    const bodies = bulkBodies({
      texts: realTexts(),
      bodies: spans / rowsPerBody,
      rowsPerBody,
      payloadChars: 1_750,
      seed,
    });
    const cpuBefore = cpuSeconds(pid);
    const started = performance.now();
    await ingest(server, bodies);
    const ingestMs = performance.now() - started;
    while (!(await isDone())) await sleep(10);
    const seconds = (performance.now() - started) / 1_000;
    // Work after the responses, such as writing, belongs to the measured load.
    await sleep(2_000);
    return { ingestMs, seconds, cpuS: cpuSeconds(pid) - cpuBefore };
  };

  await measure(11, () => true);
  const alone = await measure(12, () => true);
  for (let i = 0; i < webhooks; i += 1) await makeWebhook(server, `${receiver.url}/${i}`);
  const receiving = await measure(13, () => receiver.count() >= expected);

  await server.stop();
  folder.remove();
  receiver.close();
  return {
    machine: machine(),
    is_pinned: isPinned,
    webhooks,
    deliveries: expected,
    body_bytes: receiver.bytesEach(),
    ingest_ms: round(receiving.ingestMs, 0),
    deliveries_per_s: round(expected / receiving.seconds, 0),
    cpu_s_per_1000_with_ingest: round((receiving.cpuS / expected) * 1_000),
    cpu_s_per_1000: round(((receiving.cpuS - alone.cpuS) / expected) * 1_000),
  };
}

async function ingest(server: BenchServer, bodies: readonly Buffer[]): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  for (const body of bodies) {
    const { status, text } = await post(agent, `${server.url}/api/request-logs/bulk/`, body, "application/json");
    if (status !== 201) throw new Error(`bulk answered ${status}: ${text}`);
  }
  agent.destroy();
}

async function startReceiver() {
  let count = 0;
  let bytes = 0;
  const server = createServer((request, response) => {
    request.on("data", (chunk: Buffer) => (bytes += chunk.byteLength));
    request.on("end", () => {
      count += 1;
      response.end("ok");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    count: () => count,
    bytesEach: () => Math.round(bytes / count),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function makeWebhook(server: BenchServer, url: string): Promise<void> {
  const response = await fetch(`${server.url}/api/webhooks/`, {
    method: "POST",
    headers: { authorization: `Bearer ${benchKey}`, "content-type": "application/json" },
    body: JSON.stringify({ url, name: "Bench", event_type: "request_log" }),
  });
  if (response.status !== 201) throw new Error(`webhooks answered ${response.status}: ${await response.text()}`);
  await response.arrayBuffer();
}
