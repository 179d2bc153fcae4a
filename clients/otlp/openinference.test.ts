import { expect, test } from "vitest";
import { runClient } from "../support/run-client.ts";
import {
  cachedCost,
  call,
  called,
  capital,
  forecast,
  full,
  mini,
  paris,
  result,
  system,
  table,
  toolMessage,
  user,
  weather,
} from "./expected.ts";

/** Its streams and embeddings carry no counts. */
test("OpenInference's instrumentation of OpenAI", async () => {
  const run = await runClient("openinference.ts");
  const chat = { name: "OpenAI Chat Completions", type: "chat", parent: "weather agent", ...user };
  expect(run.trees).toEqual([
    "weather agent(OpenAI Chat Completions OpenAI Chat Completions OpenAI Chat Completions OpenAI Embeddings get_weather)",
  ]);
  expect(run.spans).toEqual(
    table(
      { name: "weather agent", type: "agent", input: weather.replace("user: ", ""), output: forecast },
      { ...chat, model: mini, prompt: [system, weather], answer: call, tools: "get_weather{}", ...full },
      { name: "get_weather", type: "tool", parent: "weather agent", input: '{"city":"Paris"}', output: result },
      {
        ...chat,
        model: mini,
        prompt: [system, weather, called, toolMessage],
        answer: forecast,
        tools: "get_weather{}",
        ...full,
      },
      { ...chat, model: "gpt-4o-mini", prompt: [capital], answer: paris, streamed: true },
      {
        name: "OpenAI Embeddings",
        type: "embedding",
        parent: "weather agent",
        model: "text-embedding-3-small",
        input: '["hello world"]',
        ...user,
      },
    ),
  );
  for (const row of run.rows.filter(({ log_type }) => log_type === "chat")) {
    expect(row["metadata"]).toMatchObject({ plan: "pro" });
  }
  expect(run.traces).toMatchObject([{ span_count: 6, total_tokens: 148, error_count: 0 }]);
  expect(run.traces[0]?.["total_cost"]).toBeCloseTo((2 * cachedCost) / 1e6, 12);
  expect(run.output).toBe("");
});
