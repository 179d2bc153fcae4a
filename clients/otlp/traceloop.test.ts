import { expect, test } from "vitest";
import { runClient } from "../support/run-client.ts";
import {
  anthropic,
  call,
  called,
  capital,
  forecast,
  mini,
  paris,
  result,
  system,
  table,
  toolMessage,
  uncached,
  uncachedCost,
  user,
  weather,
} from "./expected.ts";

test("@traceloop/node-server-sdk with decorators, a conversation and a tool", async () => {
  const run = await runClient("traceloop.ts", ["agent"]);
  const noArguments = '{"args":[],"kwargs":{}}';
  const chat = { name: "chat gpt-4o-mini", type: "chat", parent: "weather_agent", model: mini, tools: "get_weather{}" };
  expect(run.trees).toEqual(["weather_workflow(weather_agent(chat gpt-4o-mini chat gpt-4o-mini get_weather))"]);
  expect(run.spans).toEqual(
    table(
      { name: "weather_workflow", type: "workflow", ...user, input: noArguments, output: forecast },
      {
        name: "weather_agent",
        type: "agent",
        parent: "weather_workflow",
        ...user,
        input: noArguments,
        output: forecast,
      },
      { ...chat, prompt: [system, weather], answer: call, ...uncached, ...user },
      {
        name: "get_weather",
        type: "tool",
        parent: "weather_agent",
        ...user,
        input: '{"args":["Paris"],"kwargs":{}}',
        output: result,
      },
      { ...chat, prompt: [system, weather, called, toolMessage], answer: forecast, ...uncached, ...user },
    ),
  );
  for (const row of run.rows) expect(row["metadata"]).toMatchObject({ plan: "pro" });
  expect(run.traces).toMatchObject([{ span_count: 5, total_tokens: 148, customer_identifier: "user-42" }]);
  expect(run.traces[0]?.["total_cost"]).toBeCloseTo((2 * uncachedCost) / 1e6, 12);
});

/** It counts tokens itself although the model reported usage, and does not mark its counts as estimates. */
test("@traceloop/node-server-sdk on a stream", async () => {
  const run = await runClient("traceloop.ts", ["stream"]);
  const counted = { tokens: "7+12=19", cost: 7 * 0.15 + 12 * 0.6 };
  expect(run.spans).toEqual([
    { name: "chat gpt-4o-mini", type: "chat", model: mini, prompt: [capital], answer: paris, ...counted },
  ]);
});

/** The Anthropic SDK adds its own span below the instrumentation's, with the same usage: it counts once. */
test("@traceloop/node-server-sdk with Anthropic, whose input excludes cached tokens", async () => {
  const run = await runClient("traceloop.ts", ["anthropic"]);
  const model = "claude-sonnet-4-5";
  const chat = { name: "chat claude-sonnet-4-5", type: "chat", model, answer: paris, ...anthropic };
  const own = { name: "anthropic.messages.create", type: "chat", parent: chat.name, model, ...anthropic };
  expect(run.trees).toEqual([`${chat.name}(${own.name})`, `${chat.name}(${own.name})`]);
  expect(run.spans).toEqual(
    table(
      { ...chat, prompt: ["system: Be brief.", capital] },
      own,
      { ...chat, prompt: [capital] },
      { ...own, streamed: true },
    ),
  );
  expect(run.traces).toMatchObject([{ total_tokens: 74 }, { total_tokens: 74 }]);
  for (const trace of run.traces) expect(trace["total_cost"]).toBeCloseTo(anthropic.cost / 1e6, 12);
});
