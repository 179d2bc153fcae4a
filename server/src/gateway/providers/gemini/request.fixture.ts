import { ServiceError } from "../../../domain/errors.ts";
import type { ChatRequest, Target } from "../provider.ts";
import { geminiTranslator } from "./translator.ts";

/** Shared by the tests of requests to Gemini. */

export type Body = Record<string, unknown> & {
  contents: Array<{ role: string; parts: Array<Record<string, unknown>> }>;
  generationConfig: Record<string, unknown>;
};

export const target: Target = {
  provider: "gemini",
  model: "gemini-2.5-flash",
  baseUrl: "https://generativelanguage.googleapis.com",
  credential: { apiKey: "AIza-1", fields: {} },
};

export function send(chat: Partial<ChatRequest>, where: Partial<Target> = {}) {
  const messages = chat.messages ?? [{ role: "user", content: "Hi" }];
  const call = geminiTranslator.request({ model: "m", ...chat, messages }, { ...target, ...where }, 0);
  return { ...call, body: JSON.parse(call.body.toString()) as Body };
}

export const body = (chat: Partial<ChatRequest>, model?: string): Body => send(chat, model ? { model } : {}).body;

/** The member for which a request is refused. */
export function refused(chat: Partial<ChatRequest>, where?: Partial<Target>): string | undefined {
  try {
    send(chat, where);
    return undefined;
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "invalid_request") throw error;
    return Object.keys(error.errors ?? {})[0];
  }
}

export const user = (content: unknown) => ({ role: "user", content });
export const result = (id: string, content: unknown = `result of ${id}`) => ({
  role: "tool",
  tool_call_id: id,
  content,
});
export const calls = (...list: Array<{ id: string; signature?: string }>) => ({
  role: "assistant",
  content: null,
  tool_calls: list.map(({ id, signature }) => ({
    id,
    type: "function",
    function: { name: "weather", arguments: `{"of":"${id}"}` },
    ...(signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } }),
  })),
});
export const weather = {
  type: "function",
  function: { name: "weather", parameters: { type: "object", properties: { of: { type: "string" } } } },
};
