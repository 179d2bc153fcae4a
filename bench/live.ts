import { fork } from "node:child_process";
import { once } from "node:events";
import { Agent } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { benchFolder, startBenchServer } from "./lib/bench-server.ts";
import { cpuSeconds, pinToOtherCores, residentMib } from "./lib/cores.ts";
import { machine, percentile, round } from "./lib/figures.ts";
import type { LiveLoad, LiveResult } from "./lib/live-listeners-process.ts";
import { post } from "./lib/post.ts";
import { openSpansServer } from "./lib/spans-server.ts";

/**
 * Streams of the live tail while spans arrive at a steady rate: the delay from sending a span to its event, over all
 * streams, whether any event is missing, and the server's memory over time. The streams are in a separate process.
 */
export async function run(options: Map<string, string>): Promise<object> {
  const listeners = Number(options.get("listeners") ?? 100);
  const perS = Number(options.get("rate") ?? 1_000);
  const seconds = Number(options.get("seconds") ?? 60);
  const folder = benchFolder();
  const spans = await openSpansServer(options.get("spans-url"));
  const server = await startBenchServer(folder.path, spans.environment);
  const pid = server.child.pid ?? 0;
  const streams = fork(join(import.meta.dirname, "lib", "live-listeners-process.ts"), { serialization: "advanced" });
  pinToOtherCores(streams.pid ?? 0);
  streams.send({ url: server.url, listeners } satisfies LiveLoad);
  await once(streams, "message");
  const before = cpuSeconds(pid);
  const memory: number[] = [];
  const watch = setInterval(() => memory.push(residentMib(pid)), 1_000);
  const sent = await sendSteadily(`${server.url}/api/request-logs/bulk/`, perS, seconds);
  clearInterval(watch);
  const busy = (cpuSeconds(pid) - before) / seconds;
  await sleep(3_000);
  const answered = once(streams, "message");
  streams.send("end");
  const [{ delaysMs, events, skipped }] = (await answered) as [LiveResult];
  streams.disconnect();
  await server.stop();
  await spans.stop();
  folder.remove();
  const third = Math.floor(memory.length / 3);
  const thirds = [0, 1, 2].map((i) => Math.round(percentile(memory.slice(i * third, (i + 1) * third), 0.5)));
  return {
    machine: machine(),
    listeners,
    spans_per_s: round(sent / seconds, 0),
    seconds,
    events,
    expected_events: sent * listeners,
    skipped,
    delay_ms_p50: Math.round(percentile(delaysMs, 0.5)),
    delay_ms_p99: Math.round(percentile(delaysMs, 0.99)),
    delay_ms_max: Math.round(percentile(delaysMs, 1)),
    processors_used: round(busy),
    rss_mib_by_third_p50: thirds,
  };
}

const sendsPerS = 20;

/** Sends bulk requests on schedule, whether earlier ones got a response or not. Returns the number of spans sent. */
async function sendSteadily(url: string, perS: number, seconds: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const started = performance.now();
  const sending: Promise<void>[] = [];
  for (let i = 0; i < seconds * sendsPerS; i += 1) {
    await sleep(Math.max(0, started + (i * 1_000) / sendsPerS - performance.now()));
    sending.push(sendSome(agent, url, perS / sendsPerS));
  }
  await Promise.all(sending);
  agent.destroy();
  return seconds * perS;
}

async function sendSome(agent: Agent, url: string, rows: number): Promise<void> {
  const sentMs = String(Date.now());
  const logs = Array.from({ length: rows }, () => ({
    model: "gpt-4o",
    span_name: sentMs,
    input: "What is it?",
    output: "A span.",
  }));
  const { status, text } = await post(agent, url, Buffer.from(JSON.stringify({ logs })));
  if (status !== 201) throw new Error(`the server responded with ${status}: ${text}`);
}
