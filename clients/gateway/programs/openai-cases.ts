import type OpenAI from "openai";
import {
  attempt,
  citySchema,
  figuresOf,
  model,
  personSchema,
  pixelUrl,
  tagsOf,
  temperatureIn,
  whose,
} from "./cases.ts";
import { questions, refusingModel } from "./questions.ts";

type Completions = Pick<OpenAI.Chat.Completions, "create">;
type Messages = OpenAI.ChatCompletionMessageParam[];

const options = { headers: whose };

export function asking(name: string, content: OpenAI.ChatCompletionUserMessageParam["content"]) {
  const messages: Messages = [{ role: "user", content }];
  return { model, messages, ...tagsOf(name) };
}

const getWeather: OpenAI.ChatCompletionFunctionTool = {
  type: "function",
  function: { name: "get_weather", description: "The weather in a city", parameters: citySchema, strict: true },
};

/** Typical uses of chat completions, with any client that has a `create` like that of the `openai` SDK. */
export async function runOpenaiCases(completions: Completions): Promise<void> {
  await attempt("text", async () => {
    const answer = await completions.create(asking("text", questions.capital), options);
    return { text: answer.choices[0]?.message.content, finish: answer.choices[0]?.finish_reason, model: answer.model };
  });
  await attempt("stream", () => readStream(completions, asking("stream", questions.capital)));
  await attempt("stream with usage", () =>
    readStream(completions, {
      ...asking("stream with usage", questions.capital),
      stream_options: { include_usage: true },
    }),
  );
  await attempt("json schema", async () => {
    const json_schema = { name: "person", strict: true, schema: personSchema };
    const response_format = { type: "json_schema", json_schema } as const;
    const answer = await completions.create({ ...asking("json schema", questions.person), response_format }, options);
    return { value: JSON.parse(answer.choices[0]?.message.content ?? "") as unknown };
  });
  await attempt("tools", () => useTools(completions));
  await attempt("streamed tools", () => useStreamedTools(completions));
  await attempt("image", async () => {
    const content: OpenAI.ChatCompletionContentPart[] = [
      { type: "text", text: questions.image },
      { type: "image_url", image_url: { url: pixelUrl } },
    ];
    const answer = await completions.create(asking("image", content), options);
    return { text: answer.choices[0]?.message.content };
  });
  await attempt("refused", () => completions.create(asking("refused", questions.refused), options));
  await attempt("refused stream", () => readStream(completions, asking("refused stream", questions.refused)));
  await attempt("bad key", () =>
    completions.create(asking("bad key", questions.capital), { headers: { authorization: "Bearer nobodys-key" } }),
  );
  await attempt("failed upstream", () =>
    completions.create({ ...asking("failed upstream", questions.capital), model: refusingModel }, options),
  );
  await attempt("abort", () => abortStream(completions));
  await attempt("breakdown", async () => {
    const message = { ...asking("breakdown", questions.capital), request_breakdown: true };
    const answer = await completions.create(message, options);
    return { text: answer.choices[0]?.message.content, breakdown: breakdownIn(answer) };
  });
  await attempt("streamed breakdown", () =>
    readStream(completions, {
      ...asking("streamed breakdown", questions.capital),
      stream_options: { include_usage: true },
      request_breakdown: true,
    } as ReturnType<typeof asking>),
  );
}

/** Joins a stream. `ends` are its finish reasons; there must be exactly one. */
async function readStream(
  completions: Completions,
  message: Omit<OpenAI.ChatCompletionCreateParamsStreaming, "stream" | "metadata"> & ReturnType<typeof asking>,
): Promise<object> {
  const stream = await completions.create({ ...message, stream: true }, options);
  const joined = { text: "", ends: [] as string[], usage: undefined as unknown, breakdown: undefined as unknown };
  let pieces = 0;
  for await (const chunk of stream) {
    const [choice] = chunk.choices;
    if (choice?.delta.content) {
      joined.text += choice.delta.content;
      pieces += 1;
    }
    if (choice?.finish_reason) joined.ends.push(choice.finish_reason);
    if (chunk.usage) joined.usage = usageOf(chunk.usage);
    joined.breakdown ??= breakdownIn(chunk);
  }
  return { ...joined, isPiecemeal: pieces > 3 };
}

/** The SDK passes on unknown members. */
function breakdownIn(answer: object): object | undefined {
  return "request_breakdown" in answer ? figuresOf(answer.request_breakdown) : undefined;
}

function usageOf({ prompt_tokens, completion_tokens, total_tokens, prompt_tokens_details }: OpenAI.CompletionUsage) {
  return `${prompt_tokens}+${completion_tokens}=${total_tokens} cached ${prompt_tokens_details?.cached_tokens ?? 0}`;
}

/** Two rounds: the model makes two tool calls at once, and receives both results. */
async function useTools(completions: Completions): Promise<object> {
  const { messages, ...rest } = asking("tools", questions.weather);
  const request = { ...rest, tools: [getWeather] };
  const first = await completions.create({ ...request, messages }, options);
  const message = first.choices[0]?.message;
  if (message === undefined) throw new Error("the model sent no message");
  const calls = (message.tool_calls ?? []).filter((call) => call.type === "function");
  const second = await completions.create(
    { ...request, messages: [...messages, message, ...resultsOf(calls)] },
    options,
  );
  return { finish: first.choices[0]?.finish_reason, ...callsOf(calls), text: second.choices[0]?.message.content };
}

/** The same, with calls assembled from their deltas. */
async function useStreamedTools(completions: Completions): Promise<object> {
  const { messages, ...rest } = asking("streamed tools", questions.weather);
  const request = { ...rest, tools: [getWeather], stream: true as const };
  const calls: OpenAI.ChatCompletionMessageFunctionToolCall[] = [];
  let finish: string | null = null;
  for await (const chunk of await completions.create({ ...request, messages }, options)) {
    finish = chunk.choices[0]?.finish_reason ?? finish;
    for (const { index, id, function: fn } of chunk.choices[0]?.delta.tool_calls ?? []) {
      const call = (calls[index] ??= { id: "", type: "function", function: { name: "", arguments: "" } });
      call.id += id ?? "";
      call.function.name += fn?.name ?? "";
      call.function.arguments += fn?.arguments ?? "";
    }
  }
  const message = { role: "assistant" as const, content: null, tool_calls: calls };
  let text = "";
  const followUp = { ...request, messages: [...messages, message, ...resultsOf(calls)] };
  for await (const chunk of await completions.create(followUp, options)) text += chunk.choices[0]?.delta.content ?? "";
  return { finish, ...callsOf(calls), text };
}

function resultsOf(calls: readonly OpenAI.ChatCompletionMessageFunctionToolCall[]): Messages {
  return calls.map((call) => {
    const { city } = JSON.parse(call.function.arguments) as { city: string };
    return { role: "tool", tool_call_id: call.id, content: JSON.stringify(temperatureIn(city)) };
  });
}

function callsOf(calls: readonly OpenAI.ChatCompletionMessageFunctionToolCall[]): object {
  return {
    calls: calls.map((call) => `${call.function.name}(${call.function.arguments})`),
    hasDistinctIds: new Set(calls.map(({ id }) => id)).size === calls.length,
  };
}

async function abortStream(completions: Completions): Promise<object> {
  const abort = new AbortController();
  const message = { ...asking("abort", questions.count), stream: true as const };
  const stream = await completions.create(message, { ...options, signal: abort.signal });
  let text = "";
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? "";
    if (text.includes("3 ")) abort.abort();
  }
  return { isAborted: text.startsWith("1 2 3 ") && text.length < 100 };
}
