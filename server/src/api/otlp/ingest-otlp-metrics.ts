import { endpoint } from "../../http/endpoint.ts";
import { encodingOf, exportReply, otlpBody, otlpOperation } from "./read-export.ts";

/** Otherwise, exporters that send all three signals to one address would report an error every few seconds. */
export const ingestOtlpMetrics = () =>
  endpoint({
    id: "ingest_otlp_metrics",
    ...otlpOperation,
    path: "/api/v1/metrics",
    aliases: ["/v1/metrics", "/api/v2/metrics", "/api/v2/traces/v1/metrics", "/api/public/otel/v1/metrics"],
    summary: "Accept metrics over OTLP/HTTP, and drop them",
    body: {
      ...otlpBody,
      example: { resourceMetrics: [] },
    },
    errors: ["forbidden", "payload_too_large", "unsupported_media_type"],
    handler: ({ body }) => exportReply(encodingOf(body)),
  });
