import { createOpenAI } from "@ai-sdk/openai";
import { OpenTelemetry } from "@ai-sdk/otel";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { NodeTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
import { embed, generateText, isStepCount, jsonSchema, registerTelemetry, streamText, tool } from "ai";
import { authorization, modelUrl, serverUrl } from "../../support/environment.ts";
import { question, weather, weatherParameters } from "../../support/weather.ts";

/** The Vercel AI SDK 7 with its OpenTelemetry integration. */
const exporter = new OTLPTraceExporter({ url: `${serverUrl}/api/v2/traces`, headers: authorization });
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
provider.register();
registerTelemetry(new OpenTelemetry());

const openai = createOpenAI({ apiKey: "unused", baseURL: `${modelUrl}/v1` });
const model = openai.chat("gpt-4o-mini");
const telemetry = { isEnabled: true, functionId: "weather" };
const get_weather = tool({
  description: "The weather in a city",
  inputSchema: jsonSchema<{ city: string }>(weatherParameters),
  execute: () => Promise.resolve(weather),
});

await generateText({ model, prompt: question, tools: { get_weather }, stopWhen: isStepCount(3), telemetry });
const stream = streamText({ model, prompt: "What is the capital of France?", telemetry });
for await (const text of stream.textStream) void text;
await embed({ model: openai.embedding("text-embedding-3-small"), value: "hello world", telemetry });
await provider.shutdown();
