import { SpanKind, SpanStatusCode, context, trace } from "@opentelemetry/api";
import { OTLPTraceExporter as JsonExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtobufExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { BatchSpanProcessor, NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import { authorization, serverUrl } from "../../support/environment.ts";

/** Spans created by hand, in the GenAI conventions. `exporters.ts json|protobuf none|gzip` */
const [encoding, compression] = process.argv.slice(2);

const options = {
  url: `${serverUrl}/api/v2/traces`,
  headers: authorization,
  // The option is an enum, which its package does not export.
  compression: compression as never,
};
const exporter = encoding === "json" ? new JsonExporter(options) : new ProtobufExporter(options);
const provider = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] });
provider.register();
const tracer = trace.getTracer("by-hand");

const root = tracer.startSpan("answer a question", {
  attributes: { "gen_ai.operation.name": "invoke_workflow", "user.id": "user-42", "session.id": "sess-1" },
});
context.with(trace.setSpan(context.active(), root), () => {
  const messageOf = (role: string, content: string): string =>
    JSON.stringify([{ role, parts: [{ type: "text", content }] }]);
  const chat = tracer.startSpan("chat gpt-4o-mini", { kind: SpanKind.CLIENT });
  chat.setAttributes({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "gpt-4o-mini",
    "gen_ai.response.model": "gpt-4o-mini-2024-07-18",
    "gen_ai.request.temperature": 1,
    "gen_ai.input.messages": messageOf("user", "Capital of France? — ça va?"),
    "gen_ai.output.messages": messageOf("assistant", "Paris"),
    "gen_ai.usage.input_tokens": 57,
    "gen_ai.usage.cache_read.input_tokens": 32,
    "gen_ai.usage.output_tokens": 17,
    "gen_ai.usage.reasoning.output_tokens": 5,
    "user.id": "user-42",
    "session.id": "sess-1",
    "app.big": 9_007_199_254_740_991,
    "app.list": ["a", "b"],
  });
  chat.end();
  const tool = tracer.startSpan("execute_tool lookup", {
    attributes: { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "lookup" },
  });
  tool.recordException(new Error("no such city"));
  tool.setStatus({ code: SpanStatusCode.ERROR, message: "no such city" });
  tool.end();
});
root.end();
await provider.shutdown();
