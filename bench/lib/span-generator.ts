import { createHash } from "node:crypto";

/**
 * Rows of the span table as encoded NDJSON, the same for the same seed: for benches and for filling a table quickly.
 */

export type SpanGeneratorOptions = {
  /** Sentences or whole messages from which payloads are cut. Real text compresses realistically. */
  texts: readonly string[];
  rows: number;
  /** The rows are spread evenly over [fromMs, toMs), oldest first. */
  fromMs: number;
  toMs: number;
  rowsPerChunk?: number;
  /** Each row belongs to one of them: half go to the first, the others are spread over all. */
  organizationIds?: readonly string[];
  /** Characters of message text per row. */
  payloadChars?: number;
  seed?: number;
};

const models = [
  ["gpt-4o", "openai"],
  ["gpt-4o-mini", "openai"],
  ["claude-sonnet-4-5", "anthropic"],
  ["gemini-2.5-pro", "gemini"],
  ["o4-mini", "openai"],
] as const;

/** mulberry32: small, fast, and its low bits are as good as its high ones. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** `YYYY-MM-DD hh:mm:ss.nnnnnnnnn` for a time in milliseconds and the nanoseconds after it. */
export function columnTime(ms: number, extraNs = 0): string {
  return new Date(ms).toISOString().slice(0, 23).replace("T", " ") + String(extraNs).padStart(6, "0");
}

function uuidOf(trace: string, row: number): string {
  const hex = trace.slice(0, 16) + createHash("md5").update(`${trace}:${row}`).digest("hex").slice(0, 16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

function createRows(options: SpanGeneratorOptions): (index: number) => object {
  const { texts, rows, fromMs, toMs, organizationIds = ["org_1"], payloadChars = 2000, seed = 1 } = options;
  const random = seededRandom(seed);
  const below = (n: number) => Math.floor(random() * n);
  const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  const salt = createHash("md5").update(`seed ${seed}`).digest("hex");

  const messages = (): object[] => {
    const list: object[] = [];
    for (let chars = 0; chars < payloadChars;) {
      const content = pick(texts).slice(0, 900);
      list.push({ role: pick(["user", "assistant", "tool"]), content });
      chars += content.length;
    }
    return list;
  };

  return (index: number) => {
    const endMs = Math.floor(fromMs + (index / rows) * (toMs - fromMs));
    const trace = createHash("md5")
      .update(`${salt}${Math.floor(index / 10)}`)
      .digest("hex");
    const [model, provider] = pick(models);
    const latency = random() * 5;
    const promptTokens = below(5000);
    const completionTokens = below(500);
    const failed = random() < 0.03;
    const metadata = {
      tenant: `t${below(200)}`,
      region: pick(["eu", "us", "ap"]),
      attempt: below(4),
      feature: pick(["a", "b", "c", "d"]),
    };
    const prompt = messages();
    const answer = { role: "assistant", content: pick(texts).slice(0, 600) };
    return {
      organization_id: organizationIds[random() < 0.5 ? 0 : below(organizationIds.length)],
      environment: random() < 0.8 ? "prod" : "test",
      timestamp: columnTime(endMs, below(1_000_000)),
      unique_id: uuidOf(trace, index),
      version: String(BigInt(endMs) * 1_000_000n + BigInt(index % 1_000_000)),
      start_time: columnTime(endMs - Math.floor(latency * 1000)),
      received_at: columnTime(endMs + 20),
      organization_key_id: "key_1",
      organization_key_name: "default",
      log_type: "chat",
      log_method: "logging_api",
      model,
      provider_id: provider,
      span_name: `${provider}.chat`,
      span_workflow_name: pick(["support", "booking", "refund"]),
      trace_unique_id: trace,
      span_unique_id: trace.slice(0, 8) + String(index).padStart(8, "0"),
      thread_identifier: `thread_${Math.floor(index / 20)}`,
      customer_identifier: `user_${below(5000)}`,
      status: failed ? "failed" : "success",
      status_code: failed ? 500 : 200,
      error_message: failed ? "upstream timed out" : "",
      latency,
      time_to_first_token: random(),
      tokens_per_second: completionTokens / Math.max(latency, 0.01),
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: promptTokens + completionTokens,
      cost: random() / 100,
      cost_source: "computed",
      metadata,
      metadata_index: Object.fromEntries(Object.entries(metadata).map(([key, value]) => [key, String(value)])),
      prompt_messages: prompt,
      completion_message: answer,
    };
  };
}

/** Yields `rowsPerChunk` rows (the last chunk fewer) as one NDJSON buffer. */
export function* generateSpans(options: SpanGeneratorOptions): Generator<{ ndjson: Buffer; rows: number }> {
  const { rows, rowsPerChunk = 5000 } = options;
  const row = createRows(options);
  for (let start = 0; start < rows; start += rowsPerChunk) {
    const count = Math.min(rowsPerChunk, rows - start);
    const lines = Array.from({ length: count }, (_, offset) => JSON.stringify(row(start + offset)));
    yield { ndjson: Buffer.from(`${lines.join("\n")}\n`), rows: count };
  }
}
