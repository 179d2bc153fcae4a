import { expect, test } from "vitest";
import { runClient } from "../support/run-client.ts";
import {
  cached,
  cachedCost,
  call,
  called,
  capital,
  embedding,
  forecast,
  full,
  mini,
  paris,
  result,
  table,
  toolMessage,
  uncached,
  uncachedCost,
  user,
  weather,
} from "./expected.ts";

const costs = (traces: ReadonlyArray<Record<string, unknown>>): number[] =>
  traces.map((trace) => Number((Number(trace["total_cost"]) * 1e6).toFixed(6)));

test("the Vercel AI SDK 7", async () => {
  const run = await runClient("ai-sdk.ts");
  const agent = { name: "invoke_agent gpt-4o-mini", type: "agent", model: "gpt-4o-mini" };
  const step = (n: number) => ({ name: `step ${n}`, type: "task", parent: agent.name });
  const chat = (n: number) => ({ name: "chat gpt-4o-mini", type: "chat", parent: `step ${n}`, model: mini, ...cached });
  const embed = "embeddings text-embedding-3-small";
  expect(run.trees).toEqual([
    `${agent.name}(step 1(chat gpt-4o-mini get_weather) step 2(chat gpt-4o-mini))`,
    `${agent.name}(step 1(chat gpt-4o-mini))`,
    `${embed}(${embed})`,
  ]);
  const both = { tokens: "114+34=148 cached 64", cost: 2 * cachedCost };
  expect(run.spans).toEqual(
    table(
      // It joins the calls of all steps into the agent's single answer.
      { ...agent, prompt: [weather], answer: `${forecast} ${call}`, ...both },
      step(1),
      { ...chat(1), prompt: [weather], answer: call, tools: "get_weather{}" },
      { name: "get_weather", type: "tool", parent: "step 1", input: '{"city":"Paris"}', output: result },
      step(2),
      { ...chat(2), prompt: [weather, called, toolMessage], answer: forecast, tools: "get_weather{}" },
      { ...agent, prompt: [capital], answer: paris, ...cached },
      step(1),
      { ...chat(1), prompt: [capital], answer: paris, streamed: true },
      { name: embed, type: "embedding", model: embedding.model },
      { name: embed, type: "embedding", parent: embed, ...embedding },
    ),
  );
  expect(run.traces.map((trace) => trace["total_tokens"])).toEqual([148, 74, 8]);
  expect(costs(run.traces)).toEqual([2 * cachedCost, cachedCost, embedding.cost]);
});

/** Generations in version 5 do not report cached tokens; streams do. The outer span repeats its last step. */
test("the Vercel AI SDK 5", async () => {
  const run = await runClient("ai-sdk-5.ts", ["otlp"]);
  const outer = { type: "workflow", model: "gpt-4o-mini", ...user };
  const inner = { type: "chat", model: mini, ...user };
  const generate = { name: "ai.generateText.doGenerate", parent: "ai.generateText", tools: "get_weather{}" };
  expect(run.trees).toEqual([
    "ai.generateText(ai.generateText.doGenerate ai.generateText.doGenerate get_weather)",
    "ai.streamText(ai.streamText.doStream)",
    "ai.embed(ai.embed.doEmbed)",
  ]);
  expect(run.spans).toEqual(
    table(
      { ...outer, name: "ai.generateText", prompt: [weather], answer: forecast, ...uncached },
      { ...inner, ...generate, prompt: [weather], answer: call, ...uncached },
      {
        name: "get_weather",
        type: "tool",
        parent: "ai.generateText",
        input: '{"city":"Paris"}',
        output: result,
        ...user,
      },
      { ...inner, ...generate, prompt: [weather, called, toolMessage], answer: forecast, ...uncached },
      { ...outer, name: "ai.streamText", prompt: [capital], answer: paris, ...full, streamed: true },
      {
        ...inner,
        name: "ai.streamText.doStream",
        parent: "ai.streamText",
        prompt: [capital],
        answer: paris,
        ...full,
        streamed: true,
      },
      { name: "ai.embed", type: "embedding", input: "hello world", ...embedding, ...user },
      {
        name: "ai.embed.doEmbed",
        type: "embedding",
        parent: "ai.embed",
        input: '["hello world"]',
        ...embedding,
        ...user,
      },
    ),
  );
  for (const row of run.rows) expect(row["metadata"]).toMatchObject({ plan: "pro" });
  expect(run.traces.map((trace) => trace["total_tokens"])).toEqual([148, 74, 8]);
  expect(costs(run.traces)).toEqual([2 * uncachedCost, cachedCost, embedding.cost]);
});

/**
 * The exporter sends rows to /api/v1/traces/ingest: one generation of those with a common name, no parents, the
 * customer as the thread, and no counts for embeddings. Its tool calls have the AI SDK's format.
 */
test("@keywordsai/exporter-vercel", async () => {
  const run = await runClient("ai-sdk-5.ts", ["exporter-vercel"]);
  const both = { thread: "user-42", customer: "user-42" };
  const model = "gpt-4o-mini";
  const embed = { type: "embedding", model: embedding.model, prompt: [], tokens: "0+0=0", cost: 0, ...both };
  expect(run.spans).toEqual(
    table(
      {
        name: "ai.generateText.doGenerate",
        type: "text",
        model,
        prompt: [weather],
        answer: call,
        tools: "get_weather",
        ...uncached,
        ...both,
      },
      { name: "ai.toolCall", type: "tool", model: "unknown", prompt: [], answer: call, tokens: "0+0=0", ...both },
      {
        name: "ai.streamText.doStream",
        type: "text",
        model,
        prompt: [capital],
        answer: paris,
        ...uncached,
        ...both,
        streamed: true,
      },
      { name: "ai.embed", ...embed },
      { name: "ai.embed.doEmbed", ...embed },
    ),
  );
  const tool = run.rows.find((row) => row["log_type"] === "tool");
  expect(tool?.["tool_calls"]).toEqual([
    { id: "call_1", type: "function", function: { name: "get_weather", arguments: '{"city":"Paris"}' }, result },
  ]);
  expect(run.traces.map((trace) => trace["total_tokens"])).toEqual([74, 74, 0]);
});
