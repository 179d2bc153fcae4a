import { setTimeout as sleep } from "node:timers/promises";
import { Agent } from "node:http";
import { benchFolder, type BenchServer } from "./lib/bench-server.ts";
import { chatReply, chatRequest } from "./lib/chat-bodies.ts";
import { direct, startBareProxy, startPortkey, startSpanway, type Contender } from "./lib/contenders.ts";
import { cpuSeconds, untilQuiet } from "./lib/cores.ts";
import { machine, round } from "./lib/figures.ts";
import { loadGenerator, runLoad, type Load, type LoadResult } from "./lib/load.ts";
import { post } from "./lib/post.ts";
import { startUpstream } from "./lib/upstream.ts";

/**
 * Chat completions of a kilobyte each way: directly to the upstream, through a proxy that does nothing else, through
 * Spanway, which records each, and through Portkey's gateway. One after the other, several rounds in one run, each
 * alone on the same core; load and upstream use the others. Then the same one call at a time, for the latency that each
 * adds.
 */
export async function run(options: Map<string, string>): Promise<object> {
  const seconds = Number(options.get("seconds") ?? 4);
  const rounds = Number(options.get("rounds") ?? 7);
  const connections = Number(options.get("connections") ?? 32);
  const withPortkey = options.get("portkey") !== "no";
  const folder = benchFolder();
  const upstream = await startUpstream(folder.path);
  console.log(`load by ${loadGenerator()}, upstream by ${upstream.kind}`);
  const spanway = await startSpanway(upstream, folder.path);
  const contenders = [direct(upstream), await startBareProxy(upstream), spanway];
  if (withPortkey) contenders.push(await startPortkey(upstream));

  let sent = 0;
  const measure = async (contender: Contender, connections: number, isSettled = true): Promise<LoadResult> => {
    const before = contender.pid === 0 ? 0 : cpuSeconds(contender.pid);
    const result = await runLoad({ ...loadOf(contender), connections, seconds }, folder.path);
    const usedS = contender.pid === 0 ? 0 : cpuSeconds(contender.pid) - before;
    if (result.failures > 0) throw new Error(`${contender.name}: ${result.failures} calls failed`);
    const perCall = (cpuS: number): string => `${Math.round((cpuS * 1e6) / result.requests)} µs of processor a call`;
    const rates = `${Math.round(result.perS)}/s, p50 ${result.p50Ms} ms, p99 ${result.p99Ms} ms, ${perCall(usedS)}`;
    console.log(`  ${contender.name} ×${connections}: ${rates}`);
    if (contender === spanway) sent += result.requests;
    if (contender !== spanway || !isSettled) return result;
    // Deferred work belongs to this load: it must not lower the next one's rate.
    await untilQuiet(spanway.pid);
    console.log(`    ${perCall(cpuSeconds(spanway.pid) - before - usedS)} more, afterwards`);
    return result;
  };
  const measureAll = async (connections: number): Promise<LoadResult[][]> => {
    const results: LoadResult[][] = contenders.map(() => []);
    for (let i = 0; i < rounds; i += 1) {
      for (const [index, contender] of contenders.entries())
        results[index]?.push(await measure(contender, connections));
    }
    return results;
  };
  for (const contender of contenders) await measure(contender, connections);
  const busy = await measureAll(connections);
  const alone = await measureAll(1);
  // At the end: a read makes the writer insert immediately, and resumes merges.
  await measure(spanway, connections, false);
  const ended = performance.now();
  const stored = await untilStored(spanway.server, sent);
  const allStoredAfterS = round((performance.now() - ended) / 1000);
  for (const contender of contenders) await contender.stop();
  await upstream.stop();
  folder.remove();
  return {
    machine: machine(),
    load: `${loadGenerator()} and ${upstream.kind}`,
    bytes_in: chatRequest("gpt-4o", false).length,
    bytes_out: chatReply().length,
    connections,
    ...busyFigures(busy),
    // Includes calls that were in progress when a load ended.
    stored_calls: stored,
    all_stored_after_s: allStoredAfterS,
    ...aloneFigures(alone),
  };
}

function loadOf({ url, headers }: Contender): Pick<Load, "url" | "headers" | "body"> {
  return { url, headers, body: chatRequest("gpt-4o", false) };
}

/** The figures of direct, proxy, Spanway and Portkey, in this order. */
function busyFigures([direct = [], proxy = [], spanway = [], portkey = []]: LoadResult[][]): object {
  const rate = (results: LoadResult[]): number => Math.round(median(results.map(({ perS }) => perS)));
  // Other load on the machine varies: only rates of the same round had the same load.
  const ratios = (to: LoadResult[]): number[] => to.map(({ perS }, index) => (spanway[index]?.perS ?? 0) / perS);
  return {
    direct_per_s: rate(direct),
    proxy_per_s: rate(proxy),
    spanway_per_s: rate(spanway),
    portkey_per_s: rate(portkey),
    ratio_to_proxy: round(median(ratios(proxy)), 3),
    ratio_to_proxy_in_rounds: ratios(proxy).map((ratio) => round(ratio, 2)),
    ratio_to_portkey: round(median(ratios(portkey)), 1),
  };
}

/** The latency that each adds to that of the upstream. */
function aloneFigures([direct = [], proxy = [], spanway = [], portkey = []]: LoadResult[][]): object {
  const middle = (results: LoadResult[]): number => median(results.map(({ p50Ms }) => p50Ms));
  const added = (results: LoadResult[]): number => middle(results) - middle(direct);
  return {
    proxy_added_ms_p50: round(added(proxy), 3),
    spanway_added_ms_p50: round(added(spanway), 3),
    portkey_added_ms_p50: round(added(portkey), 3),
    added_ratio_to_portkey: round(added(spanway) / added(portkey), 3),
  };
}

/** NaN for an empty list. */
function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2;
}

/** Waits until every call with a response is a stored span; returns their number. */
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
