import { chunk, completion, done, event, question, usageChunk } from "./chat.ts";
import { form } from "./form.ts";
import type { Answer, Row, TestClient } from "./test-client.ts";

/** Every operation of the gateway, with the upstream's responses, so that one test can run for all of them. */
export type GatewayOperation = {
  name: string;
  /** Models of two providers that support it. */
  model: string;
  otherModel: string;
  canStream: boolean;
  path: string;
  /** The request: JSON members, or the fields of a form; with gateway parameters in a header if the body is passed on unchanged. */
  body(members: Row): { bytes: Buffer; type: string; headers?: Record<string, string> };
  /** The errors that a caller gets if an upstream responds with 500, and if it aborts. */
  failed: { status: number; type: string };
  broken: { status: number; type: string };
  /** Bytes that keep a stream alive without content. */
  keepAlives: readonly string[];
  /** The events of a stream before its first content; then content, its end with usage, and its end without. */
  opening: string;
  begin: string;
  end: string;
  endUncounted: string;
  /** A whole response, with and without usage. */
  whole: unknown;
  wholeUncounted: unknown;
  /** Prompt tokens that a stream has counted before its first content; undefined if it states none. */
  counted: number | undefined;
  /** A parameter that the gateway refuses, and the field of the span that still contains the request. */
  refused: Row;
  recordedAs: string;
};

/** All count this usage in the same way. */
const [input, output] = [1_000, 100];

const anthropicEvent = (type: string, members: Row): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;

const json = (body: Row): { bytes: Buffer; type: string } => ({
  bytes: Buffer.from(JSON.stringify(body)),
  type: "application/json",
});

const upstreamError = { status: 424, type: "upstream_error" };

const chat: GatewayOperation = {
  name: "chat",
  failed: upstreamError,
  broken: upstreamError,
  model: "gpt-4o",
  otherModel: "gpt-4o-mini",
  canStream: true,
  path: "/v1/chat/completions",
  body: (members) => json({ messages: [question], ...members }),
  keepAlives: [": OPENROUTER PROCESSING\n\n", "data:\n\n", "\n", chunk({ role: "assistant", content: "" })],
  opening: chunk({ role: "assistant", content: "" }),
  begin: chunk({ role: "assistant", content: "Hello." }),
  end: chunk({}, "stop") + usageChunk({ prompt_tokens: input, completion_tokens: output }) + done,
  endUncounted: chunk({}, "stop") + done,
  whole: completion({ usage: { prompt_tokens: input, completion_tokens: output } }),
  wholeUncounted: completion({ usage: undefined }),
  counted: undefined,
  refused: { max_tokens: 0 },
  recordedAs: "prompt_messages",
};

const messageStart = (counts: Row): string =>
  anthropicEvent("message_start", {
    message: { id: "msg_1", type: "message", role: "assistant", model: "claude", content: [], usage: counts },
  });

const translated: GatewayOperation = {
  ...chat,
  name: "translated chat",
  model: "anthropic/claude-sonnet-4-5",
  otherModel: "anthropic/claude-haiku-4-5",
  keepAlives: [": ping\n\n", anthropicEvent("ping", {})],
  opening: messageStart({ input_tokens: input, output_tokens: 1 }),
  begin:
    messageStart({ input_tokens: input, output_tokens: 1 }) +
    anthropicEvent("content_block_start", { index: 0, content_block: { type: "text", text: "" } }) +
    anthropicEvent("content_block_delta", { index: 0, delta: { type: "text_delta", text: "Hello." } }),
  end:
    anthropicEvent("content_block_stop", { index: 0 }) +
    anthropicEvent("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: output } }) +
    anthropicEvent("message_stop", {}),
  endUncounted: "",
  whole: {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude",
    content: [{ type: "text", text: "Hello." }],
    stop_reason: "end_turn",
    usage: { input_tokens: input, output_tokens: output },
  },
  wholeUncounted: undefined,
  counted: input,
};

const message = { type: "message", id: "msg_1", role: "assistant", content: [{ type: "output_text", text: "Hello." }] };
const response = (usage?: Row): Row => ({
  id: "resp_1",
  object: "response",
  status: "completed",
  output: [message],
  ...(usage && { usage }),
});
const tokens = { input_tokens: input, output_tokens: output, total_tokens: input + output };

const ofBody: ReadonlySet<string> = new Set(["model", "stream", "max_tokens", "messages"]);

const messages: GatewayOperation = {
  ...translated,
  name: "messages",
  path: "/v1/messages",
  failed: { status: 500, type: "api_error" },
  broken: { status: 502, type: "api_error" },
  body(members) {
    const all = Object.entries({ max_tokens: 100, messages: [question], ...members });
    const params = Object.fromEntries(all.filter(([name]) => !ofBody.has(name)));
    const header = Buffer.from(JSON.stringify(params)).toString("base64");
    const body = json(Object.fromEntries(all.filter(([name]) => ofBody.has(name))));
    return { ...body, headers: { "x-data-svc-params": header } };
  },
};

const responses: GatewayOperation = {
  name: "responses",
  failed: upstreamError,
  broken: upstreamError,
  model: "gpt-4o",
  otherModel: "gpt-4o-mini",
  canStream: true,
  path: "/v1/responses",
  body: (members) => json({ input: "Say hello.", ...members }),
  keepAlives: [": ping\n\n", event({ type: "keepalive" }), event({ type: "response.in_progress", response: {} })],
  opening: event({ type: "response.created", response: { id: "resp_1" } }),
  begin: event({ type: "response.output_text.delta", item_id: "msg_1", delta: "Hello." }),
  end: event({ type: "response.completed", response: response(tokens) }),
  endUncounted: event({ type: "response.completed", response: response() }),
  whole: response(tokens),
  wholeUncounted: response(),
  counted: undefined,
  refused: { max_output_tokens: 0 },
  recordedAs: "input",
};

const transcription: GatewayOperation = {
  name: "transcription",
  failed: upstreamError,
  broken: upstreamError,
  model: "gpt-4o-transcribe",
  otherModel: "gpt-4o-mini-transcribe",
  canStream: true,
  path: "/v1/audio/transcriptions",
  body: (members) =>
    form(
      ["file", Buffer.from("not really a recording"), { name: "a.mp3", type: "audio/mpeg" }],
      ...Object.entries(members).map(([name, value]): [string, string] => [
        name,
        typeof value === "string" ? value : JSON.stringify(value),
      ]),
    ),
  keepAlives: [": ping\n\n", event({ type: "keepalive" })],
  opening: event({ type: "keepalive" }),
  begin: event({ type: "transcript.text.delta", delta: "Hello." }),
  end: event({ type: "transcript.text.done", text: "Hello.", usage: { type: "tokens", ...tokens } }),
  endUncounted: event({ type: "transcript.text.done", text: "Hello." }),
  whole: { text: "Hello.", usage: { type: "tokens", ...tokens } },
  wholeUncounted: { text: "Hello." },
  counted: undefined,
  refused: { temperature: "hot" },
  recordedAs: "audio_input_file",
};

const embeddings: GatewayOperation = {
  name: "embeddings",
  failed: upstreamError,
  broken: upstreamError,
  model: "text-embedding-3-small",
  otherModel: "text-embedding-3-large",
  canStream: false,
  path: "/v1/embeddings",
  body: (members) => json({ input: "Hello.", ...members }),
  keepAlives: [],
  opening: "",
  begin: "",
  end: "",
  endUncounted: "",
  whole: {
    object: "list",
    data: [{ object: "embedding", index: 0, embedding: [0.5] }],
    usage: { prompt_tokens: input, total_tokens: input },
  },
  wholeUncounted: { object: "list", data: [{ object: "embedding", index: 0, embedding: [0.5] }] },
  counted: undefined,
  refused: { max_tokens: 0 },
  recordedAs: "input",
};

export const gatewayOperations: readonly GatewayOperation[] = [
  chat,
  translated,
  messages,
  responses,
  transcription,
  embeddings,
];

/** An operation, streamed or not. */
export type GatewayWay = { operation: GatewayOperation; isStream: boolean };

export const gatewayWays: Array<[name: string, way: GatewayWay]> = gatewayOperations.flatMap((operation) =>
  (operation.canStream ? [true, false] : [false]).map((isStream): [string, GatewayWay] => [
    `${operation.name}, ${isStream ? "streamed" : "whole"}`,
    { operation, isStream },
  ]),
);

export function send(client: TestClient, operation: GatewayOperation, members: Row): Promise<Answer> {
  const { bytes, type, headers } = operation.body({ model: operation.model, retries: 0, ...members });
  return client.post(operation.path, bytes, { "content-type": type, ...headers });
}
