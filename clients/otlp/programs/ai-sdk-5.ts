import { KeywordsAIExporter } from "@keywordsai/exporter-vercel";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { BatchSpanProcessor, NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import { embed, generateText, jsonSchema, stepCountIs, streamText, tool } from "ai-5";
import { createOpenAI } from "ai-5-openai";
import { authorization, key, modelUrl, serverUrl } from "../../support/environment.ts";
import { question, weather, weatherParameters } from "../../support/weather.ts";

/** The Vercel AI SDK 5, over OTLP or with the product's own exporter. `ai-sdk-5.ts otlp|exporter-vercel` */
const [way] = process.argv.slice(2);
const exporter =
  way === "otlp"
    ? new OTLPTraceExporter({ url: `${serverUrl}/api/v2/traces`, headers: authorization })
    : new KeywordsAIExporter({ apiKey: key, baseUrl: `${serverUrl}/api` });
const provider = new NodeTracerProvider({
  spanProcessors: [new BatchSpanProcessor(exporter)],
});
provider.register();

const openai = createOpenAI({ apiKey: "unused", baseURL: `${modelUrl}/v1` });
const model = openai.chat("gpt-4o-mini");
const experimental_telemetry = {
  isEnabled: true,
  functionId: "weather",
  metadata: { userId: "user-42", threadId: "sess-1", plan: "pro" },
};
const get_weather = tool({
  description: "The weather in a city",
  inputSchema: jsonSchema<{ city: string }>(weatherParameters),
  execute: () => Promise.resolve(weather),
});

await generateText({
  model,
  prompt: question,
  tools: { get_weather },
  stopWhen: stepCountIs(3),
  experimental_telemetry,
});
const stream = streamText({ model, prompt: "What is the capital of France?", experimental_telemetry });
for await (const text of stream.textStream) void text;
await embed({
  model: openai.textEmbeddingModel("text-embedding-3-small"),
  value: "hello world",
  experimental_telemetry,
});
await provider.shutdown();
