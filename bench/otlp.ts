import { setTimeout as sleep } from "node:timers/promises";
import { Agent } from "node:http";
import { encodeTraces, type JsonKeyValue, type JsonTraces } from "../server/test/support/otlp-encoder.ts";
import { benchFolder, startBenchServer, type BenchServer } from "./lib/bench-server.ts";
import { inParallel, machine, round } from "./lib/figures.ts";
import { post } from "./lib/post.ts";
import { realTexts } from "./lib/real-texts.ts";
import { bulkBodies } from "./lib/span-bodies.ts";
import { openSpansServer } from "./lib/spans-server.ts";

const spansPerBatch = 500;
const warmupBatches = 10;

type Batch = { path: string; contentType: string; bytes: Buffer };
type Form = "bulk" | "protobuf" | "json";
type BulkSpan = Record<string, unknown> & {
  prompt_messages: Array<{ role: string; content: string }>;
  completion_message: { content: string };
  usage: { prompt_tokens: number; completion_tokens: number };
};

/**
 * The same spans through the bulk route, as OTLP protobuf and as OTLP/JSON, one format after the other on one server,
 * twice; a run ends when every span is queryable.
 */
export async function run(options: Map<string, string>): Promise<object> {
  const batches = Number(options.get("batches") ?? 60);
  const concurrency = Number(options.get("concurrency") ?? 4);
  const folder = benchFolder();
  const spans = await openSpansServer(options.get("spans-url"));
  const server = await startBenchServer(folder.path, spans.environment);
  const agent = new Agent({ keepAlive: true });
  const best: Record<Form, number> = { bulk: 0, protobuf: 0, json: 0 };
  const bytesPerSpan: Partial<Record<Form, number>> = {};
  for (let repetition = 0; repetition < 2; repetition += 1) {
    for (const form of ["bulk", "protobuf", "json"] as const) {
      const count = repetition === 0 ? batches + warmupBatches : batches;
      const sent = batchesOf(form, count, repetition * 1000);
      const warmup = repetition === 0 ? sent.splice(0, warmupBatches) : [];
      bytesPerSpan[form] = Math.round((sent[0]?.bytes.byteLength ?? 0) / spansPerBatch);
      await ingest(agent, server, warmup, concurrency);
      const seconds = await ingest(agent, server, sent, concurrency);
      best[form] = Math.max(best[form], (sent.length * spansPerBatch) / seconds);
      console.log(`${form}: ${Math.round((sent.length * spansPerBatch) / seconds)} spans/s`);
    }
  }
  agent.destroy();
  await server.stop();
  await spans.stop();
  folder.remove();
  return {
    machine: machine(),
    bytes_per_span: bytesPerSpan,
    bulk_spans_per_s: Math.round(best.bulk),
    otlp_protobuf_spans_per_s: Math.round(best.protobuf),
    otlp_json_spans_per_s: Math.round(best.json),
    protobuf_ratio_to_bulk: round(best.protobuf / best.bulk),
    json_ratio_to_bulk: round(best.json / best.bulk),
  };
}

/** Seconds until all are accepted and queryable. */
async function ingest(
  agent: Agent,
  server: BenchServer,
  batches: readonly Batch[],
  concurrency: number,
): Promise<number> {
  const before = await countSpans(agent, server);
  const started = performance.now();
  await inParallel(batches, concurrency, async ({ path, contentType, bytes }) => {
    const { status, text } = await post(agent, server.url + path, bytes, contentType);
    if (status >= 300) throw new Error(`${path} answered ${status}: ${text}`);
  });
  while ((await countSpans(agent, server)) < before + batches.length * spansPerBatch) await sleep(20);
  return (performance.now() - started) / 1000;
}

function batchesOf(form: Form, count: number, seed: number): Batch[] {
  // Every format has different spans: the same ones again would be resends.
  const own = seed + { bulk: 1, protobuf: 300, json: 600 }[form];
  const bodies = bulkBodies({
    texts: realTexts(),
    bodies: count,
    rowsPerBody: spansPerBatch,
    payloadChars: 1750,
    seed: own,
  });
  if (form === "bulk") {
    return bodies.map((bytes) => ({ path: "/api/request-logs/bulk/", contentType: "application/json", bytes }));
  }
  return bodies.map((bytes) => {
    const traces = tracesOf((JSON.parse(bytes.toString()) as { logs: BulkSpan[] }).logs);
    return form === "protobuf"
      ? { path: "/api/v2/traces", contentType: "application/x-protobuf", bytes: encodeTraces(traces) }
      : { path: "/api/v2/traces", contentType: "application/json", bytes: Buffer.from(JSON.stringify(traces)) };
  });
}

function tracesOf(logs: readonly BulkSpan[]): JsonTraces {
  const spans = logs.map((log) => ({
    traceId: String(log["trace_unique_id"]),
    spanId: String(log["span_unique_id"]),
    name: `chat ${String(log["model"])}`,
    kind: 3,
    startTimeUnixNano: unixNano(log["start_time"]),
    endTimeUnixNano: unixNano(log["timestamp"]),
    attributes: attributesOf(log),
  }));
  const resource = { attributes: [text("service.name", "bench"), text("telemetry.sdk.language", "nodejs")] };
  return { resourceSpans: [{ resource, scopeSpans: [{ scope: { name: "gen_ai" }, spans }] }] };
}

function attributesOf(log: BulkSpan): JsonKeyValue[] {
  const messages = log.prompt_messages.map(({ role, content }) => ({ role, parts: [{ type: "text", content }] }));
  const answer = [{ role: "assistant", parts: [{ type: "text", content: log.completion_message.content }] }];
  return [
    text("gen_ai.operation.name", "chat"),
    text("gen_ai.provider.name", "openai"),
    text("gen_ai.request.model", String(log["model"])),
    { key: "gen_ai.request.temperature", value: { doubleValue: 0.7 } },
    { key: "gen_ai.usage.input_tokens", value: { intValue: log.usage.prompt_tokens } },
    { key: "gen_ai.usage.output_tokens", value: { intValue: log.usage.completion_tokens } },
    text("user.id", String(log["customer_identifier"])),
    text("session.id", String(log["thread_identifier"])),
    text("metadata", JSON.stringify(log["metadata"])),
    text("gen_ai.input.messages", JSON.stringify(messages)),
    text("gen_ai.output.messages", JSON.stringify(answer)),
  ];
}

function text(key: string, stringValue: string): JsonKeyValue {
  return { key, value: { stringValue } };
}

function unixNano(iso: unknown): string {
  return `${new Date(String(iso)).getTime()}000000`;
}

async function countSpans(agent: Agent, server: BenchServer): Promise<number> {
  const url = `${server.url}/api/request-logs/summary/?start_time=2020-01-01`;
  const answer = await post(agent, url, Buffer.from("{}"), "application/json");
  return (JSON.parse(answer.text) as { number_of_requests: number }).number_of_requests;
}
