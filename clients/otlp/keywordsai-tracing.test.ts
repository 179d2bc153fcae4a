import { expect, test } from "vitest";
import { runClient } from "../support/run-client.ts";
import {
  call,
  forecast,
  mini,
  result,
  system,
  table,
  toolMessage,
  uncached,
  uncachedCost,
  user,
  weather,
} from "./expected.ts";

/**
 * It detaches decorated spans from their parents, which the server restores; its instrumentation omits calls of a
 * repeated conversation.
 */
test("@keywordsai/tracing", async () => {
  const run = await runClient("keywordsai-tracing.ts");
  const noArguments = '{"args":[],"kwargs":{}}';
  const chat = { name: "openai.chat", type: "chat", parent: "weather_agent", model: mini, tools: "get_weather{}" };
  expect(run.trees).toEqual(["weather_workflow(weather_agent(get_weather openai.chat openai.chat plan))"]);
  expect(run.spans).toEqual(
    table(
      { name: "weather_workflow", type: "workflow", input: noArguments, output: forecast },
      {
        name: "weather_agent",
        type: "agent",
        parent: "weather_workflow",
        ...user,
        input: noArguments,
        output: forecast,
      },
      { name: "plan", type: "task", parent: "weather_agent", input: noArguments, output: '{"steps":["weather"]}' },
      { ...chat, prompt: [system, weather], answer: call, ...uncached },
      {
        name: "get_weather",
        type: "tool",
        parent: "weather_agent",
        input: '{"args":["Paris"],"kwargs":{}}',
        output: result,
      },
      { ...chat, prompt: [system, weather, "assistant: ", toolMessage], answer: forecast, ...uncached },
    ),
  );
  expect(run.rows.find((row) => row["log_type"] === "agent")?.["metadata"]).toMatchObject({ plan: "pro", seats: 3 });
  expect(run.traces).toMatchObject([{ span_count: 6, error_count: 0, total_tokens: 148 }]);
  expect(run.traces[0]?.["total_cost"]).toBeCloseTo((2 * uncachedCost) / 1e6, 12);
});
