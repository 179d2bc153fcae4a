import { ServiceError } from "../../../domain/errors.ts";
import type { ChatRequest, Target } from "../provider.ts";
import { anthropicTranslator } from "./translator.ts";

/** Shared by the tests of requests to Anthropic. */

export type Body = Record<string, unknown> & {
  messages: Array<{ role: string; content: Array<Record<string, unknown>> }>;
};

export const target: Target = {
  provider: "anthropic",
  model: "claude-sonnet-4-5",
  baseUrl: "https://api.anthropic.com",
  credential: { apiKey: "sk-ant-1", fields: {} },
};

export function send(chat: Partial<ChatRequest>, model = target.model) {
  const messages = chat.messages ?? [{ role: "user", content: "Hi" }];
  const call = anthropicTranslator.request({ model: "m", ...chat, messages }, { ...target, model }, 0);
  return { ...call, body: JSON.parse(call.body.toString()) as Body };
}

export const body = (chat: Partial<ChatRequest>, model?: string): Body => send(chat, model).body;
export const messages = (...list: unknown[]) => body({ messages: list }).messages;

/** The member for which a request is refused. */
export function refused(chat: Partial<ChatRequest>, model?: string): string | undefined {
  try {
    send(chat, model);
    return undefined;
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "invalid_request") throw error;
    return Object.keys(error.errors ?? {})[0];
  }
}

export const user = (content: unknown) => ({ role: "user", content });
export const calls = (...ids: string[]) => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id) => ({ id, type: "function", function: { name: `f_${id}`, arguments: `{"of":"${id}"}` } })),
});
export const result = (id: string, content: unknown = `result of ${id}`) => ({
  role: "tool",
  tool_call_id: id,
  content,
});
export const weather = {
  type: "function",
  function: { name: "weather", parameters: { type: "object", properties: {} } },
};
