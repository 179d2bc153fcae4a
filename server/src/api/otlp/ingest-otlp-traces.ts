import { z } from "zod";
import { ServiceError } from "../../domain/errors.ts";
import { endpoint } from "../../http/endpoint.ts";
import type { SpanIntake } from "../../ingest/accept/accept.ts";
import { originOf } from "../../ingest/normalize/normalize.ts";
import { acceptTraces, type AcceptedExport } from "../../ingest/otlp/accept-traces.ts";
import { decodeJsonTraces } from "../../ingest/otlp/decode-json.ts";
import { decodeProtobufTraces } from "../../ingest/otlp/decode-protobuf.ts";
import type { LogJoiner } from "../../ingest/otlp/join-logs.ts";
import { decodeExport, encodingOf, exportReply, otlpBody, otlpOperation } from "./read-export.ts";

const body = z
  .object({
    resourceSpans: z
      .array(z.looseObject({}))
      .meta({ description: "The spans of one resource each. Trace ids are 32 hex characters, span ids 16." }),
  })
  .meta({ id: "OtlpTraces" });

const tracesExample = {
  resourceSpans: [
    {
      resource: { attributes: [{ key: "service.name", value: { stringValue: "quiz" } }] },
      scopeSpans: [
        {
          spans: [
            {
              traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
              spanId: "00f067aa0ba902b7",
              name: "chat gpt-4o",
              startTimeUnixNano: "1767323045000000000",
              endTimeUnixNano: "1767323046400000000",
              attributes: [
                { key: "gen_ai.operation.name", value: { stringValue: "chat" } },
                { key: "gen_ai.request.model", value: { stringValue: "gpt-4o" } },
                { key: "gen_ai.usage.input_tokens", value: { intValue: "1200" } },
                { key: "gen_ai.usage.output_tokens", value: { intValue: "85" } },
              ],
            },
          ],
        },
      ],
    },
  ],
};

const decoders = { json: decodeJsonTraces, protobuf: decodeProtobufTraces };

export const ingestOtlpTraces = (deps: { intake: SpanIntake; logs: Pick<LogJoiner, "eventsFor"> }) =>
  endpoint({
    id: "ingest_otlp_traces",
    ...otlpOperation,
    path: "/api/v2/traces",
    aliases: ["/api/v1/traces", "/api/v2/traces/v1/traces", "/v1/traces", "/api/public/otel/v1/traces"],
    summary: "Ingest traces over OTLP/HTTP",
    description:
      "An ExportTraceServiceRequest in JSON or protobuf; the response has the same encoding. Invalid spans " +
      "are counted in `partialSuccess`; 400 if all are invalid.",
    body: {
      ...otlpBody,
      documents: body,
      example: tracesExample,
    },
    errors: ["invalid_request", "forbidden", "payload_too_large", "unsupported_media_type", "unavailable"],
    async handler({ principal, body }) {
      const encoding = encodingOf(body);
      const request = decodeExport(body.bytes, encoding, decoders);
      const { accepted, rejected, isWithoutIds } = await acceptTraces(
        request,
        originOf(principal, "tracing_integration"),
        deps,
      );
      if (rejected.length === 0) return exportReply(encoding);
      const message = describeRejected(rejected);
      if (accepted > 0) {
        return exportReply(encoding, { rejectedField: "rejectedSpans", rejected: rejected.length, message });
      }
      const hint = isWithoutIds ? " If this is a logs export, send it to /api/v1/logs." : "";
      throw new ServiceError("invalid_request", `No span was accepted: ${message}.${hint}`);
    },
  });

const reasonsMax = 5;

/** `2 spans: spanId must be …; 1 span: …`, the most frequent reasons first. */
function describeRejected(rejected: AcceptedExport["rejected"]): string {
  const counts = new Map<string, number>();
  for (const reason of rejected) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, reasonsMax)
    .map(([reason, count]) => `${count} ${count === 1 ? "span" : "spans"}: ${reason}`)
    .join("; ");
}
