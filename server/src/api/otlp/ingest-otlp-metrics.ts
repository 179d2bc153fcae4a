import { endpoint } from "../../http/endpoint.ts";
import { httpLimits } from "../../http/limits.ts";
import { otlpSuccess } from "./ingest-otlp-traces.ts";
import { encodingOf, exportReply, otlpMediaTypes, protobufSuccess } from "./read-export.ts";

/** Otherwise, exporters that send all three signals to one address would report an error every few seconds. */
export const ingestOtlpMetrics = () =>
  endpoint({
    id: "ingest_otlp_metrics",
    method: "POST",
    path: "/api/v1/metrics",
    aliases: ["/v1/metrics", "/api/v2/metrics", "/api/v2/traces/v1/metrics", "/api/public/otel/v1/metrics"],
    summary: "Accept metrics over OTLP/HTTP, and drop them",
    tags: ["Traces"],
    auth: "key",
    permission: "spans:ingest",
    dialect: "otlp",
    body: {
      kind: "raw",
      maxBytes: httpLimits.requestBytes,
      mediaTypes: otlpMediaTypes,
      example: { resourceMetrics: [] },
    },
    success: { status: 200, schema: otlpSuccess, alternatives: protobufSuccess },
    errors: ["forbidden", "payload_too_large", "unsupported_media_type"],
    handler: ({ body }) => exportReply(encodingOf(body)),
  });
