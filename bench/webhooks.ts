import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { benchFolder, benchKey, startBenchServer, type BenchServer } from "./lib/bench-server.ts";
import { machine, round } from "./lib/figures.ts";
import { post } from "./lib/post.ts";
import { realTexts } from "./lib/real-texts.ts";
import { bulkBodies } from "./lib/span-bodies.ts";

const rowsPerBody = 500;

/**
 * Deliveries of `request_log` to a receiver on this machine, in a process of its own: how many a second from the first POST of
 * spans until the last has arrived, and how much of one core the server takes for a thousand.
 */
export async function run(options: Map<string, string>): Promise<object> {
  const deliveries = Number(options.get("deliveries") ?? 10_000);
  const webhooks = Number(options.get("webhooks") ?? 1);
  const bodies = bulkBodies({
    texts: realTexts(),
    bodies: Math.ceil(deliveries / webhooks / rowsPerBody),
    rowsPerBody,
    payloadChars: 1_750,
    seed: 11,
  });
  const expected = bodies.length * rowsPerBody * webhooks;
  const receiver = await startReceiver();
  const folder = benchFolder();
  const server = await startBenchServer(folder.path, { SPANWAY_ALLOW_PRIVATE_UPSTREAMS: "127.0.0.1" });
  for (let i = 0; i < webhooks; i += 1) await makeWebhook(server, `${receiver.url}/${i}`);
  const agent = new Agent({ keepAlive: true });

  const cpuBefore = await cpuSeconds(server);
  const started = performance.now();
  for (const body of bodies) {
    const { status, text } = await post(agent, `${server.url}/api/request-logs/bulk/`, body, "application/json");
    if (status !== 201) throw new Error(`bulk answered ${status}: ${text}`);
  }
  const sentMs = performance.now() - started;
  while (receiver.count() < expected) await sleep(10);
  const seconds = (performance.now() - started) / 1_000;
  const cpu = (await cpuSeconds(server)) - cpuBefore;

  agent.destroy();
  await server.stop();
  folder.remove();
  receiver.close();
  return {
    machine: machine(),
    webhooks,
    deliveries: expected,
    body_bytes: receiver.bytesEach(),
    ingest_ms: round(sentMs, 0),
    deliveries_per_s: round(expected / seconds, 0),
    server_cpu_s_per_1000: round((cpu / expected) * 1_000),
  };
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

async function cpuSeconds(server: BenchServer): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return Number(/^process_cpu_seconds_total ([\d.]+)/m.exec(text)?.[1] ?? Number.NaN);
}
