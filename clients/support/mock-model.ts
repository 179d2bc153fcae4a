import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";

/**
 * A model on loopback with predictable responses, in the formats of OpenAI and Anthropic. For a question about the
 * weather it calls an offered tool, answers after the tool's result, and otherwise names a capital.
 * Usage is always: OpenAI chat 57 in (32 of them cached), 17 out (5 of them reasoning); embeddings 8; Anthropic 25
 * fresh in, 12 written to the cache, 20 read from it, 17 out. A model called `no-such-model` gets 404.
 */
export type MockModel = { url: string; stop(): Promise<void> };

type Message = { role: string; content?: unknown };
type ChatRequest = {
  model: string;
  messages: Message[];
  stream?: boolean;
  stream_options?: { include_usage?: boolean };
  tools?: unknown[];
};
type Answer = { text: string; call?: { id: string; name: string; arguments: string } };

export const openaiUsage = {
  prompt_tokens: 57,
  completion_tokens: 17,
  total_tokens: 74,
  prompt_tokens_details: { cached_tokens: 32, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 5, audio_tokens: 0 },
};

export const anthropicUsage = {
  input_tokens: 25,
  cache_creation_input_tokens: 12,
  cache_read_input_tokens: 20,
  output_tokens: 17,
};

export async function startMockModel(): Promise<MockModel> {
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${portOf(server)}`, stop: () => stop(server) };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = JSON.parse(await readText(request)) as ChatRequest;
  if (body.model === "no-such-model") {
    const error = { message: "The model `no-such-model` does not exist", type: "invalid_request_error", code: "404" };
    sendJson(response, 404, { error });
  } else if (request.url?.endsWith("/chat/completions") === true) answerChat(body, response);
  else if (request.url?.endsWith("/embeddings") === true)
    answerEmbeddings(body as unknown as { input: unknown }, response);
  else if (request.url?.endsWith("/messages") === true) answerMessages(body, response);
  else sendJson(response, 404, { error: { message: `nothing at ${request.url ?? ""}` } });
}

function answerTo({ messages, tools }: ChatRequest): Answer {
  const last = JSON.stringify(messages.at(-1));
  if (last.includes("tempC")) return { text: "It is 18°C and cloudy in Paris right now." };
  if (tools !== undefined && last.includes("weather")) {
    return { text: "", call: { id: "call_1", name: "get_weather", arguments: '{"city":"Paris"}' } };
  }
  return { text: "Hello! The capital of France is Paris — ça va?" };
}

const openaiModel = "gpt-4o-mini-2024-07-18";
const created = 1_700_000_000;

function answerChat(body: ChatRequest, response: ServerResponse): void {
  const { text, call } = answerTo(body);
  const base = { id: `chatcmpl-${randomUUID()}`, created, model: openaiModel, system_fingerprint: "fp_mock" };
  const calls = call && [{ id: call.id, type: "function", function: { name: call.name, arguments: call.arguments } }];
  const finish_reason = call ? "tool_calls" : "stop";
  if (body.stream !== true) {
    const message = {
      role: "assistant",
      content: call ? null : text,
      refusal: null,
      ...(calls && { tool_calls: calls }),
    };
    const choices = [{ index: 0, message, finish_reason, logprobs: null }];
    sendJson(response, 200, { ...base, object: "chat.completion", choices, usage: openaiUsage });
    return;
  }
  const chunk = (delta: unknown, reason: string | null = null): unknown => ({
    ...base,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason: reason, logprobs: null }],
  });
  const content = calls
    ? [chunk({ tool_calls: calls.map((one, index) => ({ index, ...one })) })]
    : text.split(/(?<= )/).map((content) => chunk({ content }));
  const usage = { ...base, object: "chat.completion.chunk", choices: [], usage: openaiUsage };
  const events = [
    chunk({ role: "assistant", content: call ? null : "" }),
    ...content,
    chunk({}, finish_reason),
    ...(body.stream_options?.include_usage === true ? [usage] : []),
  ];
  sendEvents(response, [...events.map((event) => `data: ${JSON.stringify(event)}\n\n`), "data: [DONE]\n\n"]);
}

function answerEmbeddings({ input }: { input: unknown }, response: ServerResponse): void {
  const inputs = Array.isArray(input) ? input : [input];
  sendJson(response, 200, {
    object: "list",
    model: "text-embedding-3-small",
    data: inputs.map((_, index) => ({ object: "embedding", index, embedding: [0.25, -0.5, 0.125] })),
    usage: { prompt_tokens: 8, total_tokens: 8 },
  });
}

function answerMessages(body: ChatRequest, response: ServerResponse): void {
  const { text, call } = answerTo(body);
  const block = call
    ? { type: "tool_use", id: "toolu_1", name: call.name, input: JSON.parse(call.arguments) as unknown }
    : { type: "text", text };
  const stop_reason = call ? "tool_use" : "end_turn";
  const message = {
    id: `msg_${randomUUID()}`,
    type: "message",
    role: "assistant",
    model: "claude-sonnet-4-5",
    content: [block],
    stop_reason,
    stop_sequence: null,
    usage: anthropicUsage,
  };
  if (body.stream !== true) {
    sendJson(response, 200, message);
    return;
  }
  const delta = call ? { type: "input_json_delta", partial_json: call.arguments } : { type: "text_delta", text };
  const events = [
    {
      type: "message_start",
      message: { ...message, content: [], stop_reason: null, usage: { ...anthropicUsage, output_tokens: 1 } },
    },
    {
      type: "content_block_start",
      index: 0,
      content_block: call ? { ...block, input: {} } : { type: "text", text: "" },
    },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 17 } },
    { type: "message_stop" },
  ];
  sendEvents(
    response,
    events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
  );
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function sendEvents(response: ServerResponse, events: readonly string[]): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of events) response.write(event);
  response.end();
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the mock model is not listening");
  return address.port;
}

async function stop(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, "close");
}
