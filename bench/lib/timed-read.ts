import { benchKey, type BenchServer } from "./bench-server.ts";
import { percentile, round } from "./figures.ts";

export type Question = { name: string; path: string; body?: object; method?: "GET" };

/** Sends requests one after the other, after two that are not counted. */
export async function timedRead(
  server: BenchServer,
  { path, body = {}, method }: Question,
  times: number,
): Promise<object> {
  const durationsMs: number[] = [];
  const { rssBytes: idleBytes = 0 } = await server.send({ kind: "memory" });
  let bytes = 0;
  let usedMs = 0;
  for (let i = -2; i < times; i += 1) {
    if (i === 0) usedMs = (await server.send({ kind: "cpu" })).processMs ?? 0;
    const started = performance.now();
    const response = await fetch(server.url + path, {
      method: method ?? "POST",
      headers: {
        authorization: `Bearer ${benchKey}`,
        "content-type": "application/json",
        "accept-encoding": "identity",
      },
      ...(method === undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${text.slice(0, 500)}`);
    if (i >= 0) durationsMs.push(performance.now() - started);
    bytes = text.length;
  }
  const { processMs = 0 } = await server.send({ kind: "cpu" });
  const { rssBytes = 0 } = await server.send({ kind: "memory" });
  return {
    ms_p50: round(percentile(durationsMs, 0.5), 1),
    ms_p95: round(percentile(durationsMs, 0.95), 1),
    processor_ms: round((processMs - usedMs) / times, 1),
    answer_kb: Math.round(bytes / 1000),
    rss_mb_above_before: Math.round((rssBytes - idleBytes) / 1e6),
  };
}
