import { inAnyOrder, type SpanSummary } from "../../server/test/support/otlp-summary.ts";

/**
 * Derived from the mock model's usage (support/mock-model.ts) and list prices, in millionths of a US dollar:
 * gpt-4o-mini 0.15 / 0.075 cached / 0.60 per token, claude-sonnet-4-5 3 / 0.30 read / 3.75 written / 15,
 * text-embedding-3-small 0.02.
 */
export const uncachedCost = 57 * 0.15 + 17 * 0.6;
export const cachedCost = 25 * 0.15 + 32 * 0.075 + 17 * 0.6;

/** Usage, as far as an SDK passes it on. */
export const full = { tokens: "57+17=74 cached 32 thought 5", cost: cachedCost };
export const cached = { tokens: "57+17=74 cached 32", cost: cachedCost };
export const uncached = { tokens: "57+17=74", cost: uncachedCost };
export const anthropic = { tokens: "57+17=74 cached 20 wrote 12", cost: 25 * 3 + 12 * 3.75 + 20 * 0.3 + 17 * 15 };
export const embedding = { model: "text-embedding-3-small", tokens: "8+0=8", cost: 8 * 0.02 };

export const user = { thread: "sess-1", customer: "user-42" };
export const mini = "gpt-4o-mini-2024-07-18";

export const system = "system: You are a helpful assistant.";
export const weather = "user: What is the weather in Paris?";
export const call = 'get_weather({"city":"Paris"})';
export const called = `assistant: ${call}`;
export const result = '{"tempC":18,"sky":"cloudy"}';
export const toolMessage = `tool: ${result}`;
export const forecast = "It is 18°C and cloudy in Paris right now.";
export const capital = "user: What is the capital of France?";
export const paris = "Hello! The capital of France is Paris — ça va?";

/** A table of spans in the order of a run's spans. */
export function table(...spans: SpanSummary[]): SpanSummary[] {
  return inAnyOrder(spans);
}
