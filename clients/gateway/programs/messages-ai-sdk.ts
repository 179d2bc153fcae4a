import { createAnthropic } from "@ai-sdk/anthropic";
import { generateText, stepCountIs, jsonSchema, streamText, tool } from "ai";
import { key, serverUrl } from "../../support/environment.ts";
import { allInHeader, attempt, citySchema, model, temperatureIn } from "./cases.ts";
import { questions } from "./questions.ts";

const provider = createAnthropic({ apiKey: key, baseURL: `${serverUrl}/v1` });
const options = (name: string) => ({ model: provider(model), maxRetries: 0, headers: allInHeader(name) });
const tools = {
  get_weather: tool({
    description: "The weather in a city",
    inputSchema: jsonSchema<{ city: string }>(citySchema),
    execute: ({ city }) => temperatureIn(city),
  }),
};

await attempt("text", async () => {
  const { text, finishReason } = await generateText({ ...options("text"), prompt: questions.capital });
  return { text, finish: finishReason };
});
await attempt("stream", async () => {
  const stream = streamText({ ...options("stream"), prompt: questions.capital });
  const pieces: string[] = [];
  for await (const piece of stream.textStream) pieces.push(piece);
  return { text: pieces.join(""), finish: await stream.finishReason, isPiecemeal: pieces.length > 3 };
});
await attempt("tools", async () => {
  const { text, steps } = await generateText({
    ...options("tools"),
    prompt: questions.weather,
    tools,
    stopWhen: stepCountIs(3),
  });
  const calls = steps.flatMap(({ toolCalls }) => toolCalls);
  return { calls: calls.map(({ toolName, input }) => `${toolName}(${JSON.stringify(input)})`), text };
});
await attempt("refused", () => generateText({ ...options("refused"), prompt: questions.refused }));
