import * as anthropicModule from "@anthropic-ai/sdk";
import * as traceloop from "@traceloop/node-server-sdk";
import OpenAI from "openai";
import { key, modelUrl, serverUrl } from "../../support/environment.ts";
import { requestWeather, weather } from "../../support/weather.ts";

/** OpenLLMetry's SDK with OpenAI and Anthropic. `traceloop.ts agent|stream|anthropic` */
const [scenario] = process.argv.slice(2);
traceloop.initialize({
  appName: "weather",
  apiKey: key,
  // The SDK appends `/v1/traces`.
  baseUrl: `${serverUrl}/api`,
  disableBatch: true,
  silenceInitializationMessage: true,
  traceloopSyncEnabled: false,
  instrumentModules: { openAI: OpenAI as never, anthropic: anthropicModule as never },
});
const openai = new OpenAI({ apiKey: "unused", baseURL: `${modelUrl}/v1` });
const capital = "What is the capital of France?";

async function agent(): Promise<void> {
  const associations = { user_id: "user-42", session_id: "sess-1", plan: "pro" };
  await traceloop.withAssociationProperties(associations, () =>
    traceloop.withWorkflow({ name: "weather_workflow" }, () =>
      traceloop.withAgent({ name: "weather_agent" }, () =>
        requestWeather(openai, (city) => traceloop.withTool({ name: "get_weather" }, getWeather, city)),
      ),
    ),
  );
}

function getWeather(_city: string): Promise<typeof weather> {
  return Promise.resolve(weather);
}

async function stream(): Promise<void> {
  const chunks = await openai.chat.completions.create({
    model: "gpt-4o-mini",
    messages: [{ role: "user", content: capital }],
    stream: true,
    stream_options: { include_usage: true },
  });
  for await (const chunk of chunks) void chunk;
}

async function anthropic(): Promise<void> {
  const client = new anthropicModule.Anthropic({ apiKey: "unused", baseURL: modelUrl });
  const request = { model: "claude-sonnet-4-5", max_tokens: 64 };
  await client.messages.create({ ...request, system: "Be brief.", messages: [{ role: "user", content: capital }] });
  const events = await client.messages.create({
    ...request,
    messages: [{ role: "user", content: capital }],
    stream: true,
  });
  for await (const event of events) void event;
}

const scenarios: Record<string, () => Promise<void>> = { agent, stream, anthropic };
await scenarios[scenario ?? ""]?.();
await traceloop.forceFlush();
