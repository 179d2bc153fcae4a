import { setTimeout as sleep } from "node:timers/promises";
import { Agent } from "node:http";
import { benchFolder, type BenchServer } from "./lib/bench-server.ts";
import { chatReply, chatRequest } from "./lib/chat-bodies.ts";
import { direct, startBareProxy, startPortkey, startSpanway, type Contender } from "./lib/contenders.ts";
import { cpuSeconds, untilQuiet } from "./lib/cores.ts";
import { machine, percentile, round } from "./lib/figures.ts";
import { loadGenerator, runLoad, type LoadResult } from "./lib/load.ts";
import { post } from "./lib/post.ts";
import { startUpstream } from "./lib/upstream.ts";

/**
 * Chat completions of a kilobyte each way, straight to the upstream, through a proxy that does nothing else, through
 * Spanway, which records each, and through Portkey's gateway. One after the other, several rounds in one run, each on the
 * same core alone; load and upstream are on the others. Then the same one at a time, for what each adds.
 */
export async function run(options: Map<string, string>): Promise<object> {
  const seconds = Number(options.get("seconds") ?? 8);
  const rounds = Number(options.get("rounds") ?? 3);
  const connections = Number(options.get("connections") ?? 32);
  const withPortkey = options.get("portkey") !== "no";
  const folder = benchFolder();
  const upstream = await startUpstream(folder.path);
  console.log(`load by ${loadGenerator()}, upstream by ${upstream.kind}`);
  const spanway = await startSpanway(upstream, folder.path);
  const contenders = [direct(upstream), await startBareProxy(upstream), spanway];
  if (withPortkey) contenders.push(await startPortkey(upstream));

  let sent = 0;
  const lags: number[] = [];
  const measure = async (contender: Contender, lanes: number): Promise<LoadResult> => {
    const load = { url: contender.url, headers: contender.headers, body: chatRequest("gpt-4o", false) };
    const before = contender.pid === 0 ? 0 : cpuSeconds(contender.pid);
    const result = await runLoad({ ...load, connections: lanes, seconds }, folder.path);
    const usedS = contender.pid === 0 ? 0 : cpuSeconds(contender.pid) - before;
    if (result.failures > 0) throw new Error(`${contender.name}: ${result.failures} calls failed`);
    console.log(
      `  ${contender.name} ×${lanes}: ${Math.round(result.perS)}/s, p50 ${result.p50Ms} ms, p99 ${result.p99Ms} ms, ` +
        `${Math.round((usedS * 1e6) / result.requests)} µs of processor a call`,
    );
    if (contender !== spanway) return result;
    sent += result.requests;
    const ended = performance.now();
    const stored = await untilStored(spanway.server, sent);
    lags.push((performance.now() - ended) / 1000);
    // What was under way when the load ended was recorded as well.
    sent = stored;
    // What it put off is its own work: nobody else's rate bears it.
    await untilQuiet(spanway.pid);
    const allS = cpuSeconds(spanway.pid) - before;
    console.log(
      `  ${contender.name}: ${Math.round(((allS - usedS) * 1e6) / result.requests)} µs more a call afterwards`,
    );
    return result;
  };
  const measureAll = async (lanes: number): Promise<LoadResult[][]> => {
    const results: LoadResult[][] = contenders.map(() => []);
    for (let i = 0; i < rounds; i += 1) {
      for (const [index, contender] of contenders.entries()) results[index]?.push(await measure(contender, lanes));
    }
    return results;
  };

  for (const contender of contenders) await measure(contender, connections);
  const busy = await measureAll(connections);
  const alone = await measureAll(1);
  for (const contender of contenders) await contender.stop();
  await upstream.stop();
  folder.remove();

  const best = (results: LoadResult[] = []): number => Math.max(...results.map(({ perS }) => perS));
  const middle = (results: LoadResult[] = []): number =>
    percentile(
      results.map(({ p50Ms }) => p50Ms),
      0.5,
    );
  const [directRate, proxyRate = 0, spanwayRate = 0, portkeyRate = Number.NaN] = busy.map(best);
  const [directMs = 0, proxyMs = 0, spanwayMs = 0, portkeyMs = Number.NaN] = alone.map(middle);
  return {
    machine: machine(),
    load: `${loadGenerator()} and ${upstream.kind}`,
    bytes_in: chatRequest("gpt-4o", false).length,
    bytes_out: chatReply().length,
    connections,
    direct_per_s: Math.round(directRate ?? 0),
    proxy_per_s: Math.round(proxyRate),
    spanway_per_s: Math.round(spanwayRate),
    portkey_per_s: Math.round(portkeyRate),
    ratio_to_proxy: round(spanwayRate / proxyRate, 3),
    ratio_to_portkey: round(spanwayRate / portkeyRate, 1),
    stored_calls: sent,
    all_stored_after_s: round(Math.max(...lags), 2),
    proxy_added_ms_p50: round(proxyMs - directMs, 3),
    spanway_added_ms_p50: round(spanwayMs - directMs, 3),
    portkey_added_ms_p50: round(portkeyMs - directMs, 3),
    added_ratio_to_portkey: round((spanwayMs - directMs) / (portkeyMs - directMs), 3),
  };
}

/** Waits until every call that was answered is a stored span; how many those are. */
async function untilStored(server: BenchServer, calls: number): Promise<number> {
  const agent = new Agent({ keepAlive: true });
  const count = async (): Promise<number> => {
    const path = "/api/request-logs/summary/?start_time=2020-01-01";
    const { text } = await post(agent, server.url + path, Buffer.from("{}"));
    return (JSON.parse(text) as { number_of_requests: number }).number_of_requests;
  };
  const deadline = performance.now() + 60_000;
  let stored = await count();
  while (stored < calls) {
    if (performance.now() > deadline) throw new Error(`of ${calls} calls ${stored} were stored after a minute`);
    await sleep(100);
    stored = await count();
  }
  agent.destroy();
  return stored;
}
