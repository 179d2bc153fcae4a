import { expect } from "vitest";
import type { Row } from "./test-client.ts";

/** Requests and responses of Anthropic's Messages API. */

export const event = (type: string, members: Row = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
export const params = (members: Row): Record<string, string> => ({
  "x-data-svc-params": Buffer.from(JSON.stringify(members)).toString("base64"),
});
export const anthropicError = (type: string, message: unknown): Row => ({
  type: "error",
  error: { type, message },
  request_id: expect.any(String),
});

export const usage = {
  input_tokens: 1_000,
  cache_read_input_tokens: 2_000,
  cache_creation_input_tokens: 700,
  cache_creation: { ephemeral_5m_input_tokens: 300, ephemeral_1h_input_tokens: 400 },
  server_tool_use: { web_search_requests: 2, web_fetch_requests: 0 },
  service_tier: "standard",
  inference_geo: "us",
  output_tokens: 500,
};
export const reply = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-sonnet-4-5-20250929",
  content: [
    { type: "thinking", thinking: "Let me see.", signature: "c2ln" },
    { type: "text", text: "Hello." },
    { type: "tool_use", id: "toolu_1", name: "look", input: { at: "sky" } },
  ],
  stop_reason: "tool_use",
  stop_sequence: null,
  usage,
};
export const requestOf = (members: Row = {}): Row => ({
  model: "claude-sonnet-4-5",
  max_tokens: 100,
  messages: [{ role: "user", content: "Say hello." }],
  ...members,
});
export const start = event("message_start", { message: { ...reply, content: [], stop_reason: null, usage } });
export const block = event("content_block_start", { index: 0, content_block: { type: "text", text: "" } });
export const textEvent = (text: string): string =>
  event("content_block_delta", { index: 0, delta: { type: "text_delta", text } });
export const stop =
  event("content_block_stop", { index: 0 }) +
  event("message_delta", { delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 500 } }) +
  event("message_stop");
export const stream = start + block + textEvent("Hello.") + stop;

/** In USD: the cost of the usage above with Claude Sonnet 4.6, a tenth more if it is served only in the US. */
export const costUsd = ((1_000 * 3 + 2_000 * 0.3 + 300 * 3.75 + 400 * 6 + 500 * 15) / 1e6) * 1.1 + 2 * 0.01;
