import { ChatOpenAI } from "@langchain/openai";
import OpenAI, { APIError } from "openai";
import { attempt, gateway, model, tagsOf } from "./cases.ts";
import { questions } from "./questions.ts";

/** Arguments: a model, and the budget in USD. The token limit keeps the reservation of a call small. */
const total_budget = Number(process.argv[3]);
const racer = { customer_identifier: "racer", total_budget };
const spent = { customer_identifier: "spent", total_budget: 0 };
const openai = new OpenAI(gateway);

function call(name: string, customer: Record<string, unknown>, maxRetries = 2): Promise<unknown> {
  const messages = [{ role: "user" as const, content: questions.capital }];
  const request = { model, messages, max_tokens: 30, ...tagsOf(name), customer_params: customer };
  return openai.chat.completions.create(request, { maxRetries });
}

/** The SDK's name of an error, with its status and type. */
function named(error: unknown): string {
  if (!(error instanceof APIError)) throw error;
  return `${error.constructor.name} ${error.status} ${error.type}`;
}

await attempt("race", async () => {
  const calls = Array.from({ length: 20 }, () => call("race", racer).then(() => "answered", named));
  const outcomes = Object.groupBy(await Promise.all(calls), (outcome) => outcome);
  return Object.fromEntries(Object.entries(outcomes).map(([outcome, all]) => [outcome, all?.length]));
});
await attempt("langchain", async () => {
  const { apiKey, baseURL } = gateway;
  const modelKwargs = { ...tagsOf("langchain"), customer_params: spent };
  const chat = new ChatOpenAI({ model, apiKey, configuration: { baseURL }, maxTokens: 30, modelKwargs });
  return chat.invoke(questions.capital);
});
await attempt("rate limit", async () => {
  const hasty = { customer_identifier: "hasty", rate_limit: 1 };
  const outcomes = [];
  for (let n = 0; n < 2; n += 1) outcomes.push(await call("rate limit", hasty, 0).then(() => "answered", named));
  return { outcomes };
});
