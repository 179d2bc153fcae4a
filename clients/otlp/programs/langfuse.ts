import { LangfuseClient } from "@langfuse/client";
import { LangfuseSpanProcessor } from "@langfuse/otel";
import { propagateAttributes, startActiveObservation, startObservation } from "@langfuse/tracing";
import { NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import { key, serverUrl } from "../../support/environment.ts";

/**
 * Langfuse's SDK with its own paths and Basic auth, and scores: of a span, of its trace, and through the API directly.
 */
const account = { publicKey: "pk-lf-anything", secretKey: key, baseUrl: serverUrl };
const processor = new LangfuseSpanProcessor(account);
const provider = new NodeTracerProvider({ spanProcessors: [processor] });
provider.register();
const langfuse = new LangfuseClient(account);

const ids = propagateAttributes({ userId: "user-42", sessionId: "sess-1" }, () =>
  startActiveObservation("answer", (root) => {
    root.update({ input: "What is the capital of France?", output: "Paris" });
    const call = startObservation(
      "ask",
      {
        model: "gpt-4o-mini",
        input: [{ role: "user", content: "What is the capital of France?" }],
        output: { role: "assistant", content: "Paris" },
        usageDetails: { input: 57, output: 17, total: 74 },
      },
      { asType: "generation" },
    );
    call.end();
    langfuse.score.observation(call, { name: "brevity", value: 1, dataType: "BOOLEAN" });
    langfuse.score.trace(root, { name: "quality", value: 0.9, comment: "It answers." });
    return { traceId: root.traceId, observationId: call.id };
  }),
);
await langfuse.flush();
await langfuse.api.legacy.scoreV1.create({ ...ids, name: "tone", value: "friendly", dataType: "CATEGORICAL" });
await provider.shutdown();
await langfuse.shutdown();
