import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible, type MetadataExtractor } from "@ai-sdk/openai-compatible";
import { generateText, jsonSchema, Output, stepCountIs, streamText, tool, type LanguageModel } from "ai";
import {
  allInHeader,
  attempt,
  citySchema,
  figuresOf,
  gateway,
  model as modelName,
  personSchema,
  pixel,
  tagsOf,
  temperatureIn,
  whose,
} from "./cases.ts";
import { questions, refusingModel } from "./questions.ts";

/** Either provider of the SDK. Arguments: a model, and the provider. */
const isCompatible = process.argv[3] === "openai-compatible";

/** Passes on the gateway's extra members of a completion. */
const metadataExtractor: MetadataExtractor = {
  extractMetadata: ({ parsedBody }) => Promise.resolve(breakdownIn(parsedBody)),
  createStreamExtractor() {
    let breakdown: ReturnType<typeof breakdownIn>;
    return { processChunk: (chunk) => void (breakdown ??= breakdownIn(chunk)), buildMetadata: () => breakdown };
  },
};

function breakdownIn(body: unknown) {
  const { request_breakdown: breakdown } = body as { request_breakdown?: Record<string, string> };
  return breakdown && { gateway: { breakdown: breakdown } };
}

type Options = { model?: string; apiKey?: string; isCounted?: boolean; more?: Record<string, unknown> };

/** `.chat` sends no unknown members in the body, so all of a case's parameters are in the header. */
function chat(
  name: string,
  { model = modelName, apiKey = gateway.apiKey, isCounted = true, more }: Options = {},
): {
  model: LanguageModel;
  headers: Record<string, string>;
} {
  const settings = { ...gateway, apiKey };
  if (!isCompatible) return { model: createOpenAI(settings).chat(model), headers: allInHeader(name, more) };
  const provider = createOpenAICompatible({
    ...settings,
    name: "gateway",
    includeUsage: isCounted,
    supportsStructuredOutputs: true,
    metadataExtractor,
    transformRequestBody: (body) => ({ ...body, ...tagsOf(name), ...more }),
  });
  return { model: provider(model), headers: whose };
}

const prompt = questions.capital;
const getWeather = tool({
  description: "The weather in a city",
  inputSchema: jsonSchema<{ city: string }>(citySchema),
  execute: ({ city }) => temperatureIn(city),
});

const weatherLoop = { tools: { get_weather: getWeather }, stopWhen: stepCountIs(3), prompt: questions.weather };

await attempt("text", async () => {
  const { text, finishReason, response } = await generateText({ ...chat("text"), prompt });
  return { text, finish: finishReason, model: response.modelId };
});
await attempt("stream", () => readStream(streamText({ ...chat("stream", { isCounted: false }), prompt }), false));
await attempt("stream with usage", () => readStream(streamText({ ...chat("stream with usage"), prompt }), true));
await attempt("json schema", async () => {
  const schema = jsonSchema<{ name: string; age: number }>(personSchema);
  const output = Output.object({ schema, name: "person" });
  return { value: (await generateText({ ...chat("json schema"), output, prompt: questions.person })).output };
});
await attempt("tools", async () => {
  const { steps, text } = await generateText({ ...chat("tools"), ...weatherLoop });
  return { ...summaryOf(steps[0]), text };
});
await attempt("streamed tools", async () => {
  const stream = streamText({ ...chat("streamed tools"), ...weatherLoop });
  const text = await stream.text;
  const [first] = await stream.steps;
  return { ...summaryOf(first), text };
});
await attempt("image", async () => {
  const image = { type: "file" as const, mediaType: "image/png", data: pixel };
  const content = [{ type: "text" as const, text: questions.image }, image];
  const { text } = await generateText({ ...chat("image"), messages: [{ role: "user", content }] });
  return { text };
});
await attempt("refused", () => generateText({ ...chat("refused"), prompt: questions.refused }));
await attempt("refused stream", () => readFailing(chat("refused stream"), questions.refused));
await attempt("bad key", () => generateText({ ...chat("bad key", { apiKey: "nobodys-key" }), prompt }));
await attempt("failed upstream", () => generateText({ ...chat("failed upstream", { model: refusingModel }), prompt }));
await attempt("abort", async () => {
  const abort = new AbortController();
  const stream = streamText({ ...chat("abort"), prompt: questions.count, abortSignal: abort.signal });
  let text = "";
  for await (const part of stream.textStream) {
    text += part;
    if (text.includes("3 ")) abort.abort();
  }
  return { isAborted: text.startsWith("1 2 3 ") && text.length < 100 };
});
await attempt("breakdown", async () => {
  const { text, providerMetadata, response } = await generateText({
    ...chat("breakdown", { more: { request_breakdown: true } }),
    include: { responseBody: true },
    prompt,
  });
  const body = response.body as { request_breakdown?: unknown } | undefined;
  const breakdown = isCompatible ? providerMetadata?.["gateway"]?.["breakdown"] : body?.request_breakdown;
  return { text, breakdown: figuresOf(breakdown ?? {}) };
});
await attempt("streamed breakdown", async () => {
  const stream = streamText({ ...chat("streamed breakdown", { more: { request_breakdown: true } }), prompt });
  const read = await readStream(stream, true);
  const breakdown = (await stream.providerMetadata)?.["gateway"]?.["breakdown"];
  return { ...read, ...(breakdown !== undefined && { breakdown: figuresOf(breakdown) }) };
});

type Streamed = Pick<ReturnType<typeof streamText>, "textStream" | "finishReason" | "usage">;

async function readStream(stream: Streamed, isCounted: boolean): Promise<object> {
  let text = "";
  let pieces = 0;
  for await (const part of stream.textStream) {
    text += part;
    pieces += 1;
  }
  const { inputTokens = 0, outputTokens = 0, totalTokens = 0, inputTokenDetails } = await stream.usage;
  const usage = `${inputTokens}+${outputTokens}=${totalTokens} cached ${inputTokenDetails.cacheReadTokens ?? 0}`;
  return { text, ends: [await stream.finishReason], ...(isCounted && { usage }), isPiecemeal: pieces > 3 };
}

/** A stream passes its errors to a callback. */
async function readFailing(from: ReturnType<typeof chat>, question: string): Promise<object> {
  let thrown: unknown;
  const stream = streamText({ ...from, prompt: question, onError: ({ error }) => void (thrown = error) });
  await stream.consumeStream();
  if (thrown !== undefined) throw thrown;
  return {};
}

type Step = Pick<Awaited<ReturnType<typeof generateText>>, "finishReason" | "toolCalls">;

function summaryOf(step: Step | undefined): object {
  const calls = step?.toolCalls ?? [];
  return {
    finish: step?.finishReason,
    calls: calls.map(({ toolName, input }) => `${toolName}(${JSON.stringify(input)})`),
    hasDistinctIds: new Set(calls.map(({ toolCallId }) => toolCallId)).size === calls.length,
  };
}
