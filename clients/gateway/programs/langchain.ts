import {
  HumanMessage,
  ToolMessage,
  type AIMessage,
  type AIMessageChunk,
  type BaseMessage,
} from "@langchain/core/messages";
import { ChatOpenAI, type ChatOpenAIFields } from "@langchain/openai";
import {
  attempt,
  citySchema,
  figuresOf,
  gateway,
  model,
  personSchema,
  pixelUrl,
  tagsOf,
  temperatureIn,
  whose,
} from "./cases.ts";
import { questions, refusingModel } from "./questions.ts";

/** `modelKwargs` are members of the body. */
function chat(name: string, fields: ChatOpenAIFields = {}, more: Record<string, unknown> = {}): ChatOpenAI {
  const { apiKey, baseURL } = gateway;
  return new ChatOpenAI({
    model,
    apiKey,
    configuration: { baseURL, defaultHeaders: whose },
    streamUsage: false,
    modelKwargs: { ...tagsOf(name), ...more },
    ...fields,
  });
}

await attempt("text", async () => {
  const answer = await chat("text").invoke(questions.capital);
  const { finish_reason, model_name } = answer.response_metadata;
  return { text: answer.text, finish: finish_reason, model: model_name };
});
await attempt("stream", () => readStream(chat("stream")));
await attempt("stream with usage", () => readStream(chat("stream with usage", { streamUsage: true })));
await attempt("json schema", async () => {
  const structured = chat("json schema").withStructuredOutput(personSchema, { name: "person", method: "jsonSchema" });
  return { value: await structured.invoke(questions.person) };
});
await attempt("tools", () => useTools("tools", false));
await attempt("streamed tools", () => useTools("streamed tools", true));
await attempt("image", async () => {
  const content = [
    { type: "text", text: questions.image },
    { type: "image_url", image_url: { url: pixelUrl } },
  ];
  return { text: (await chat("image").invoke([new HumanMessage({ content })])).text };
});
await attempt("refused", () => chat("refused").invoke(questions.refused));
await attempt("refused stream", () => readStream(chat("refused stream"), questions.refused));
await attempt("bad key", () => chat("bad key", { apiKey: "nobodys-key" }).invoke(questions.capital));
await attempt("failed upstream", () =>
  chat("failed upstream", { model: refusingModel, maxRetries: 0 }).invoke(questions.capital),
);
await attempt("abort", async () => {
  const abort = new AbortController();
  const stream = await chat("abort").stream(questions.count, { signal: abort.signal });
  let text = "";
  try {
    for await (const chunk of stream) {
      text += chunk.text;
      if (text.includes("3 ")) abort.abort();
    }
  } catch (error) {
    if (!abort.signal.aborted) throw error;
  }
  return { isAborted: text.startsWith("1 2 3 ") && text.length < 100 };
});
await attempt("breakdown", async () => {
  const model = chat("breakdown", { __includeRawResponse: true }, { request_breakdown: true });
  const answer = await model.invoke(questions.capital);
  const raw = answer.additional_kwargs["__raw_response"] as { request_breakdown: unknown };
  return { text: answer.text, breakdown: figuresOf(raw.request_breakdown) };
});
await attempt("streamed breakdown", () =>
  readStream(chat("streamed breakdown", { streamUsage: true }, { request_breakdown: true })),
);

async function readStream(from: ChatOpenAI, question: string = questions.capital): Promise<object> {
  const chunks: AIMessageChunk[] = [];
  for await (const chunk of await from.stream(question)) chunks.push(chunk);
  const whole = joined(chunks);
  return {
    text: whole.text,
    ends: [whole.response_metadata["finish_reason"]],
    ...usageOf(whole.usage_metadata),
    isPiecemeal: chunks.filter(({ text }) => text !== "").length > 3,
  };
}

type Counts = {
  input_tokens: number;
  output_tokens: number;
  total_tokens: number;
  input_token_details?: { cache_read?: number };
};

function usageOf(counts: Counts | undefined): { usage?: string } {
  if (counts === undefined) return {};
  const { input_tokens, output_tokens, total_tokens, input_token_details } = counts;
  return { usage: `${input_tokens}+${output_tokens}=${total_tokens} cached ${input_token_details?.cache_read ?? 0}` };
}

function joined(chunks: readonly AIMessageChunk[]): AIMessageChunk {
  const [first, ...rest] = chunks;
  if (first === undefined) throw new Error("the stream was empty");
  return rest.reduce((whole, chunk) => whole.concat(chunk), first);
}

async function useTools(name: string, isStream: boolean): Promise<object> {
  const parameters = citySchema;
  const bound = chat(name).bindTools([
    { type: "function", function: { name: "get_weather", description: "The weather in a city", parameters } },
  ]);
  const send = async (messages: BaseMessage[]): Promise<AIMessage> => {
    if (!isStream) return bound.invoke(messages);
    const chunks: AIMessageChunk[] = [];
    for await (const chunk of await bound.stream(messages)) chunks.push(chunk);
    return joined(chunks);
  };
  const question = new HumanMessage(questions.weather);
  const first = await send([question]);
  const calls = first.tool_calls ?? [];
  const results = calls.map(({ id = "", args }) => {
    const content = JSON.stringify(temperatureIn(String(args["city"])));
    return new ToolMessage({ tool_call_id: id, content });
  });
  const second = await send([question, first, ...results]);
  return {
    finish: first.response_metadata["finish_reason"],
    calls: calls.map((call) => `${call.name}(${JSON.stringify(call.args)})`),
    hasDistinctIds: new Set(calls.map(({ id }) => id)).size === calls.length,
    text: second.text,
  };
}
