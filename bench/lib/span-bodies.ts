import { createHash } from "node:crypto";
import { seededRandom } from "./span-generator.ts";

export type BodyOptions = {
  texts: readonly string[];
  bodies: number;
  rowsPerBody: number;
  payloadChars: number;
  seed: number;
};

/**
 * Bulk request bodies as an SDK would send them: chat spans with ids, messages of real text, usage, timing, metadata.
 * `payloadChars` counts only the text of the messages.
 */
export function bulkBodies({ texts, bodies, rowsPerBody, payloadChars, seed }: BodyOptions): Buffer[] {
  const random = seededRandom(seed);
  const below = (n: number): number => Math.floor(random() * n);
  const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  const nowMs = Date.now();

  const span = (index: number): object => {
    const messages = [];
    for (let chars = 0; chars < payloadChars;) {
      const content = pick(texts).slice(0, 900);
      messages.push({ role: pick(["user", "assistant", "tool"]), content });
      chars += content.length;
    }
    const prompt_tokens = 200 + below(4000);
    const completion_tokens = below(500);
    const endMs = nowMs - below(600_000);
    const latency = Number((random() * 5).toFixed(3));
    return {
      log_type: "chat",
      model: pick(["gpt-4o", "gpt-4o-mini", "claude-sonnet-4-5", "gemini-2.5-flash"]),
      prompt_messages: messages,
      completion_message: { role: "assistant", content: pick(texts).slice(0, 600) },
      usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
      timestamp: new Date(endMs).toISOString(),
      start_time: new Date(endMs - latency * 1000).toISOString(),
      latency,
      time_to_first_token: Number((random() / 2).toFixed(3)),
      status_code: 200,
      stream: true,
      temperature: 0.7,
      trace_unique_id: createHash("md5")
        .update(`${seed}:${Math.floor(index / 8)}`)
        .digest("hex"),
      span_unique_id: createHash("md5").update(`${seed}:${index}`).digest("hex").slice(0, 16),
      span_name: "openai.chat",
      span_workflow_name: pick(["support", "booking", "refund"]),
      customer_identifier: `user_${below(5000)}`,
      thread_identifier: `thread_${Math.floor(index / 20)}`,
      metadata: {
        tenant: `t${below(200)}`,
        region: pick(["eu", "us", "ap"]),
        attempt: below(4),
        feature: pick(["a", "b", "c"]),
      },
    };
  };

  return Array.from({ length: bodies }, (_, body) =>
    Buffer.from(
      JSON.stringify({ logs: Array.from({ length: rowsPerBody }, (__, row) => span(body * rowsPerBody + row)) }),
    ),
  );
}
