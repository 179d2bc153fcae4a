import { OpenInferenceSpanKind, SemanticConventions } from "@arizeai/openinference-semantic-conventions";
import { setMetadata, setSession, setUser } from "@arizeai/openinference-core";
import { OpenAIInstrumentation } from "@arizeai/openinference-instrumentation-openai";
import { context, trace } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { NodeTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
import OpenAI from "openai";
import { authorization, modelUrl, serverUrl } from "../../support/environment.ts";
import { requestWeather, question, weather } from "../../support/weather.ts";

/** An agent with OpenInference's instrumentation of OpenAI. */
const exporter = new OTLPTraceExporter({ url: `${serverUrl}/api/v1/traces`, headers: authorization });
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
provider.register();
const instrumentation = new OpenAIInstrumentation();
instrumentation.manuallyInstrument(OpenAI);
instrumentation.setTracerProvider(provider);

const openai = new OpenAI({ apiKey: "unused", baseURL: `${modelUrl}/v1` });
const tracer = trace.getTracer("agent");
const withKind = (kind: OpenInferenceSpanKind, input: string) => ({
  attributes: { [SemanticConventions.OPENINFERENCE_SPAN_KIND]: kind, [SemanticConventions.INPUT_VALUE]: input },
});

let scope = setSession(context.active(), { sessionId: "sess-1" });
scope = setUser(scope, { userId: "user-42" });
scope = setMetadata(scope, { plan: "pro" });
await context.with(scope, () =>
  tracer.startActiveSpan("weather agent", withKind(OpenInferenceSpanKind.AGENT, question), async (agent) => {
    const answer = await requestWeather(openai, (city) =>
      tracer.startActiveSpan("get_weather", withKind(OpenInferenceSpanKind.TOOL, JSON.stringify({ city })), (tool) => {
        tool.setAttribute(SemanticConventions.OUTPUT_VALUE, JSON.stringify(weather));
        tool.end();
        return Promise.resolve(weather);
      }),
    );
    agent.setAttribute(SemanticConventions.OUTPUT_VALUE, answer);
    const stream = await openai.chat.completions.create({
      model: "gpt-4o-mini",
      messages: [{ role: "user", content: "What is the capital of France?" }],
      stream: true,
    });
    for await (const chunk of stream) void chunk;
    await openai.embeddings.create({ model: "text-embedding-3-small", input: "hello world" });
    agent.end();
  }),
);
await provider.shutdown();
