import { fork } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { benchFolder } from "./lib/bench-server.ts";
import { chatRequest } from "./lib/chat-bodies.ts";
import { direct, startBareProxy, startSpanway, type Contender } from "./lib/contenders.ts";
import { cpuSeconds, pinToOtherCores, residentMib } from "./lib/cores.ts";
import { machine, percentile, round } from "./lib/figures.ts";
import { loadGenerator, runLoad } from "./lib/load.ts";
import type { PacedLoad, PacedResult } from "./lib/paced-client-process.ts";
import { startNodeUpstream, startUpstream } from "./lib/upstream.ts";

/**
 * Streams through Spanway, recorded, compared with a proxy that does nothing else: the maximum rate, of 100 events
 * each, passed on and converted; 700 at the pace of a model; and one of 50 MB to a client that reads slowly.
 */
export async function run(options: Map<string, string>): Promise<object> {
  const rates = options.get("rates") === "no" ? {} : await streamRates(options);
  const paced = options.get("paced") === "no" ? {} : await pacedStreams(options);
  const burst = options.get("burst") === "no" ? {} : await burstGrowth(options);
  return { machine: machine(), ...rates, ...paced, ...burst };
}

async function streamRates(options: Map<string, string>): Promise<object> {
  const seconds = Number(options.get("seconds") ?? 4);
  const rounds = Number(options.get("rounds") ?? 3);
  const folder = benchFolder();
  const fast = await startUpstream(folder.path);
  const eager = await startNodeUpstream();
  console.log(`load by ${loadGenerator()}, upstream by ${fast.kind}, by ${eager.kind} for events in a write each`);
  const proxies = { fast: await startBareProxy(fast), eager: await startBareProxy(eager) };
  const spanway = await startSpanway(fast, folder.path, {
    XAI_API_KEY: "sk-bench",
    XAI_BASE_URL: `${eager.url}/events`,
    ANTHROPIC_BASE_URL: `${eager.url}/foreign-events`,
  });
  const through = (proxy: Contender, path: string): Contender => ({ ...proxy, url: new URL(path, proxy.url).href });
  const runs = [
    { name: "proxy", contender: through(proxies.eager, "/events/chat/completions"), model: "gpt-4o" },
    { name: "passed on", contender: spanway, model: "xai/grok-4" },
    { name: "proxy, foreign", contender: through(proxies.eager, "/foreign-events/v1/messages"), model: "gpt-4o" },
    { name: "converted", contender: spanway, model: "anthropic/claude-sonnet-4-5" },
    { name: "proxy, in one write", contender: through(proxies.fast, "/stream/chat/completions"), model: "gpt-4o" },
    { name: "passed on, in one write", contender: spanway, model: "groq/llama-3.3-70b" },
  ];
  const perS: number[][] = runs.map(() => []);
  for (let i = 0; i <= rounds; i += 1) {
    for (const [index, { name, contender, model }] of runs.entries()) {
      const load = { url: contender.url, headers: contender.headers, body: chatRequest(model, true) };
      const before = cpuSeconds(contender.pid);
      const result = await runLoad({ ...load, connections: 32, seconds }, folder.path);
      const usedUs = ((cpuSeconds(contender.pid) - before) * 1e6) / result.requests;
      if (result.failures > 0) throw new Error(`${name}: ${result.failures} streams failed`);
      console.log(`  ${name}: ${Math.round(result.perS)}/s, ${Math.round(usedUs)} µs of processor a stream`);
      // The first round runs code that is not compiled yet.
      if (i > 0) perS[index]?.push(result.perS);
      await sleep(1000);
    }
  }
  for (const each of [spanway, ...Object.values(proxies), fast, eager]) await each.stop();
  folder.remove();
  const [proxy = 0, passed = 0, foreign = 0, converted = 0, proxyAtOnce = 0, passedAtOnce = 0] = perS.map((each) =>
    Math.max(...each),
  );
  return {
    load: `${loadGenerator()}, ${eager.kind}, ${fast.kind}`,
    proxy_streams_per_s: Math.round(proxy),
    passed_streams_per_s: Math.round(passed),
    passed_ratio: round(passed / proxy, 3),
    proxy_foreign_streams_per_s: Math.round(foreign),
    converted_streams_per_s: Math.round(converted),
    converted_ratio: round(converted / foreign, 3),
    in_one_write_proxy_streams_per_s: Math.round(proxyAtOnce),
    in_one_write_passed_streams_per_s: Math.round(passedAtOnce),
    in_one_write_passed_ratio: round(passedAtOnce / proxyAtOnce, 3),
  };
}

async function pacedStreams(options: Map<string, string>): Promise<object> {
  const streams = Number(options.get("streams") ?? 700);
  const seconds = Number(options.get("paced-seconds") ?? 60);
  const warmSeconds = Number(options.get("paced-warm-seconds") ?? 60);
  const streamSeconds = Math.min(10, seconds / 4);
  const folder = benchFolder();
  const upstream = await startNodeUpstream(Math.round(streamSeconds * 50));
  const spanway = await startSpanway(upstream, folder.path, { OPENAI_BASE_URL: `${upstream.url}/paced` });
  const paced = { ...direct(upstream), url: `${upstream.url}/paced/chat/completions` };
  const load = { body: chatRequest("gpt-4o", true), streams, streamSeconds };
  const straight = await runPaced({ ...load, seconds: seconds / 2, url: paced.url, headers: paced.headers });

  // Caches and the garbage collector reach their working size first.
  const running = runPaced({ ...load, seconds: warmSeconds + seconds, url: spanway.url, headers: spanway.headers });
  await sleep(warmSeconds * 1000);
  const before = cpuSeconds(spanway.pid);
  const memory: number[] = [];
  for (let second = 1; second < seconds; second += 1) {
    await sleep(1000);
    memory.push(residentMib(spanway.pid));
  }
  const through = await running;
  const busy = (cpuSeconds(spanway.pid) - before) / seconds;
  await spanway.stop();
  await upstream.stop();
  folder.remove();
  const third = Math.floor(memory.length / 3);
  const early = percentile(memory.slice(third, 2 * third), 0.5);
  const late = percentile(memory.slice(2 * third), 0.5);
  for (const { failures } of [straight, through]) if (failures > 0) throw new Error(`${failures} streams failed`);
  return {
    paced_streams: streams,
    paced_warm_seconds: warmSeconds,
    paced_seconds: seconds,
    direct_first_token_ms_p50: round(percentile(straight.firstTokenMs, 0.5)),
    spanway_first_token_ms_p50: round(percentile(through.firstTokenMs, 0.5)),
    direct_first_token_ms_p99: round(percentile(straight.firstTokenMs, 0.99)),
    spanway_first_token_ms_p99: round(percentile(through.firstTokenMs, 0.99)),
    streams_begun: through.started,
    streams_finished: through.finished,
    processors_used: round(busy),
    rss_mib_first_third_p50: Math.round(percentile(memory.slice(0, third), 0.5)),
    rss_mib_middle_third_p50: Math.round(early),
    rss_mib_last_third_p50: Math.round(late),
  };
}

async function runPaced(load: PacedLoad): Promise<PacedResult> {
  const child = fork(join(import.meta.dirname, "lib", "paced-client-process.ts"), { serialization: "advanced" });
  pinToOtherCores(child.pid ?? 0);
  child.send(load);
  const [result] = (await once(child, "message")) as [PacedResult];
  child.disconnect();
  return result;
}

const slowBytesPerS = 64 * 1024;

async function burstGrowth(options: Map<string, string>): Promise<object> {
  const seconds = Number(options.get("burst-seconds") ?? 20);
  const folder = benchFolder();
  const upstream = await startNodeUpstream();
  const spanway = await startSpanway(upstream, folder.path, {
    OPENAI_BASE_URL: `${upstream.url}/v1`,
    GROQ_BASE_URL: `${upstream.url}/burst`,
  });
  // Ordinary calls first, so that their allocations happen before the measurement.
  const load = { url: spanway.url, headers: spanway.headers, connections: 8, seconds: 5 };
  await runLoad({ ...load, body: chatRequest("gpt-4o", false) }, folder.path);
  await sleep(2000);
  const before = residentMib(spanway.pid);
  const reading = readSlowly(spanway, chatRequest("groq/llama-3.3-70b", true), seconds);
  const memory: number[] = [];
  for (let i = 0; i < seconds * 10 - 5; i += 1) {
    await sleep(100);
    memory.push(residentMib(spanway.pid));
  }
  const read = await reading;
  await spanway.stop();
  await upstream.stop();
  folder.remove();
  return {
    burst_seconds: seconds,
    burst_bytes_read: read,
    burst_rss_mib_before: Math.round(before),
    burst_rss_growth_mib_max: round(Math.max(...memory) - before, 1),
  };
}

async function readSlowly({ url, headers }: Contender, body: Buffer, seconds: number): Promise<number> {
  const { hostname, port, pathname } = new URL(url);
  const lines = Object.entries({ ...headers, "content-length": body.length }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  // Without read-ahead: unread data stays in the kernel, and then with the sender.
  const socket = connect({ port: Number(port), host: hostname, readableHighWaterMark: 1024 } as never);
  await once(socket, "connect");
  socket.write(`POST ${pathname} HTTP/1.1\r\nhost: ${hostname}\r\n${lines.join("\r\n")}\r\n\r\n`);
  socket.write(body);
  let read = 0;
  const step = slowBytesPerS / 20;
  const endsAt = performance.now() + seconds * 1000;
  while (performance.now() < endsAt) {
    await sleep(50);
    const bytes = (socket.read(step) ?? socket.read()) as Buffer | null;
    read += bytes?.length ?? 0;
  }
  socket.destroy();
  return read;
}
