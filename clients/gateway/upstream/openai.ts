import type { ServerResponse } from "node:http";
import { openaiUsage } from "../../support/mock-model.ts";
import { foreignChunks } from "./foreign-chunks.ts";
import { answerTo, piecesOf, type UpstreamRequest, type Call } from "./scene.ts";
import { counted, dataEvent, sendEvents, sendJson } from "./send.ts";

type Part = { type: string; text?: string; image_url?: { url: string } };
type Message = { role: string; content?: string | Part[] | null; tool_call_id?: string };
type ChatRequest = {
  model: string;
  messages: Message[];
  stream?: boolean;
  stream_options?: { include_usage?: boolean };
  tools?: Array<{ function: { name: string } }>;
  response_format?: { type: string };
};

const base = { id: "chatcmpl-scripted", created: 1_700_000_000, model: "gpt-4o-mini-2024-07-18" };

/** Responds like OpenAI's `POST /v1/chat/completions`. */
export async function answerAsOpenai(body: ChatRequest, response: ServerResponse): Promise<void> {
  const request = read(body);
  const foreign = foreignChunks(request.text.replace("Foreign ", ""));
  if (foreign !== undefined) return sendEvents(response, foreign);
  const answer = answerTo(request);
  if (answer.kind === "refusal") {
    const error = {
      message: answer.message,
      type: "invalid_request_error",
      param: "temperature",
      code: "unsupported_value",
    };
    return sendJson(response, 400, { error });
  }
  if (answer.kind === "count") return sendEvents(response, countedChunks(response));
  const text = answer.kind === "text" ? answer.text : undefined;
  const calls = answer.kind === "calls" ? answer.calls : [];
  if (body.stream === true) {
    return sendEvents(response, chunks(text, calls, body.stream_options?.include_usage === true));
  }
  const tool_calls = calls.map(({ id, name, args }) => ({
    id,
    type: "function",
    function: { name, arguments: JSON.stringify(args) },
  }));
  const message = {
    role: "assistant",
    content: text ?? null,
    refusal: null,
    ...(text === undefined && { tool_calls }),
  };
  const choices = [{ index: 0, message, logprobs: null, finish_reason: finishOf(calls) }];
  return sendJson(response, 200, { ...base, object: "chat.completion", choices, usage: openaiUsage });
}

function read({ messages, tools, response_format }: ChatRequest): UpstreamRequest {
  const question = messages.findLast(({ role }) => role === "user");
  const parts =
    typeof question?.content === "string" ? [{ type: "text", text: question.content }] : (question?.content ?? []);
  const url = parts.map((part: Part) => part.image_url?.url).find((one) => one !== undefined);
  const [, mediaType, base64] = /^data:(.*?);base64,(.*)$/.exec(url ?? "") ?? [];
  return {
    text: parts.map(({ text }) => text ?? "").join(""),
    image: mediaType === undefined ? undefined : { mediaType, bytes: Buffer.from(base64 ?? "", "base64").length },
    tools: (tools ?? []).map((tool) => tool.function.name),
    results: messages
      .filter(({ role }) => role === "tool")
      .map(({ tool_call_id, content }) => ({ call: tool_call_id ?? "", text: textOf(content) })),
    isJson: response_format !== undefined && response_format.type !== "text",
  };
}

function textOf(content: Message["content"]): string {
  return typeof content === "string" ? content : (content ?? []).map(({ text }) => text ?? "").join("");
}

function chunk(delta: unknown, finish_reason: string | null = null): string {
  return dataEvent({
    ...base,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
  });
}

function* chunks(text: string | undefined, calls: readonly Call[], isCounted: boolean): Generator<string> {
  yield chunk({ role: "assistant", content: text === undefined ? null : "" });
  for (const content of piecesOf(text ?? "")) yield chunk({ content });
  for (const [index, { id, name, args }] of calls.entries()) {
    yield chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] });
    for (const piece of piecesOf(JSON.stringify(args))) {
      yield chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
    }
  }
  yield chunk({}, finishOf(calls));
  if (isCounted) yield dataEvent({ ...base, object: "chat.completion.chunk", choices: [], usage: openaiUsage });
  yield "data: [DONE]\n\n";
}

async function* countedChunks(response: ServerResponse): AsyncGenerator<string> {
  yield chunk({ role: "assistant", content: "" });
  for await (const content of counted(response)) yield chunk({ content });
}

function finishOf(calls: readonly Call[]): string {
  return calls.length > 0 ? "tool_calls" : "stop";
}
