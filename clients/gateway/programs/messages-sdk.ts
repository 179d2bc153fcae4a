import Anthropic from "@anthropic-ai/sdk";
import { key, serverUrl } from "../../support/environment.ts";
import { allInHeader, attempt, citySchema, model, temperatureIn } from "./cases.ts";
import { questions } from "./questions.ts";

/**
 * The unmodified SDK with Spanway's URL and key: one client sends the key as `x-api-key`, the other as a bearer token.
 */
const anthropic = new Anthropic({ apiKey: key, baseURL: serverUrl, maxRetries: 0 });
const byToken = new Anthropic({ authToken: key, apiKey: null, baseURL: serverUrl, maxRetries: 0 });
const tools = [
  { name: "get_weather", description: "The weather in a city", input_schema: { ...citySchema, required: ["city"] } },
];

type Message = Anthropic.MessageParam;

function requestOf(content: string): { model: string; max_tokens: number; messages: Message[] } {
  return { model, max_tokens: 1_000, messages: [{ role: "user", content }] };
}

const options = (name: string) => ({ headers: allInHeader(name) });

function textOf({ content }: Anthropic.Message): string {
  return content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

await attempt("text", async () => {
  const { data, request_id } = await anthropic.messages
    .create(requestOf(questions.capital), options("text"))
    .withResponse();
  return { text: textOf(data), finish: data.stop_reason, model: data.model, hasRequestId: request_id !== null };
});
await attempt("token", async () => ({
  text: textOf(await byToken.messages.create(requestOf(questions.capital), options("token"))),
}));
await attempt("stream", async () => {
  let pieces = 0;
  const stream = anthropic.messages
    .stream(requestOf(questions.capital), options("stream"))
    .on("text", () => (pieces += 1));
  const message = await stream.finalMessage();
  return { text: textOf(message), finish: message.stop_reason, isPiecemeal: pieces > 3 };
});
await attempt("count", async () => {
  const { max_tokens: _, ...counted } = requestOf(questions.capital);
  return { ...(await anthropic.messages.countTokens(counted, options("count"))) };
});
await attempt("beta", async () => {
  const betas = ["context-1m-2025-08-07"];
  const message = await anthropic.beta.messages.create({ ...requestOf(questions.capital), betas }, options("beta"));
  return { text: message.content.map((block) => (block.type === "text" ? block.text : "")).join("") };
});
await attempt("tools", async () => {
  const { messages, ...rest } = requestOf(questions.weather);
  const first = await anthropic.messages.stream({ ...rest, messages, tools }, options("tools")).finalMessage();
  const calls = first.content.filter((block) => block.type === "tool_use");
  const results = calls.map(({ id, input }) => ({
    type: "tool_result" as const,
    tool_use_id: id,
    content: JSON.stringify(temperatureIn((input as { city: string }).city)),
  }));
  const turns: Message[] = [
    ...messages,
    { role: "assistant", content: first.content },
    { role: "user", content: results },
  ];
  const second = await anthropic.messages.create({ ...rest, messages: turns, tools }, options("tools"));
  return {
    finish: first.stop_reason,
    calls: calls.map(({ name, input }) => `${name}(${JSON.stringify(input)})`),
    text: textOf(second),
  };
});
await attempt("refused", () => anthropic.messages.create(requestOf(questions.refused), options("refused")));
await attempt("refused stream", () =>
  anthropic.messages.stream(requestOf(questions.refused), options("refused stream")).finalMessage(),
);
await attempt("bad key", () =>
  anthropic.withOptions({ apiKey: "nobodys-key" }).messages.create(requestOf(questions.capital)),
);
await attempt("another provider", () =>
  anthropic.messages.create({ ...requestOf(questions.capital), model: "gpt-4o-mini" }, options("another provider")),
);
await attempt("nowhere", () => anthropic.messages.batches.list());
await attempt("abort", async () => {
  const stream = anthropic.messages.stream(requestOf(questions.count), options("abort"));
  let text = "";
  stream.on("text", (piece) => {
    text += piece;
    if (text.includes("3 ")) stream.abort();
  });
  await stream.done().catch(() => undefined);
  return { isAborted: text.startsWith("1 2 3 ") && text.length < 100 };
});
