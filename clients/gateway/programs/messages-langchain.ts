import { ChatAnthropic } from "@langchain/anthropic";
import { HumanMessage, ToolMessage, type AIMessageChunk } from "@langchain/core/messages";
import { key, serverUrl } from "../../support/environment.ts";
import { allInHeader, attempt, citySchema, model, temperatureIn } from "./cases.ts";
import { questions } from "./questions.ts";

function chat(name: string): ChatAnthropic {
  return new ChatAnthropic({
    model,
    apiKey: key,
    anthropicApiUrl: serverUrl,
    maxRetries: 0,
    maxTokens: 1_000,
    clientOptions: { defaultHeaders: allInHeader(name) },
  });
}

await attempt("text", async () => {
  const answer = await chat("text").invoke(questions.capital);
  return { text: answer.text, finish: answer.response_metadata["stop_reason"] };
});
await attempt("stream", async () => {
  const chunks: AIMessageChunk[] = [];
  for await (const chunk of await chat("stream").stream(questions.capital)) chunks.push(chunk);
  const pieces = chunks.map(({ text }) => text).filter((text) => text !== "");
  return { text: pieces.join(""), isPiecemeal: pieces.length > 3 };
});
await attempt("tools", async () => {
  const bound = chat("tools").bindTools([
    { name: "get_weather", description: "The weather in a city", input_schema: citySchema },
  ]);
  const question = new HumanMessage(questions.weather);
  const first = await bound.invoke([question]);
  const calls = first.tool_calls ?? [];
  const results = calls.map(({ id = "", args }) => {
    const content = JSON.stringify(temperatureIn(String(args["city"])));
    return new ToolMessage({ tool_call_id: id, content });
  });
  const second = await bound.invoke([question, first, ...results]);
  return { calls: calls.map(({ name, args }) => `${name}(${JSON.stringify(args)})`), text: second.text };
});
await attempt("refused", () => chat("refused").invoke(questions.refused));
