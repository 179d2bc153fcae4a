import { z } from "zod";
import { ServiceError } from "../../domain/errors.ts";
import { endpoint } from "../../http/endpoint.ts";
import type { SpanIntake } from "../../ingest/accept/accept.ts";
import { originOf } from "../../ingest/normalize/normalize.ts";
import { acceptTraces } from "../../ingest/otlp/accept-traces.ts";
import { spansOfAgentLogs } from "../../ingest/otlp/agent-logs/read-agent-logs.ts";
import { decodeJsonLogs } from "../../ingest/otlp/decode-json.ts";
import { decodeProtobufLogs } from "../../ingest/otlp/decode-protobuf.ts";
import type { LogJoiner } from "../../ingest/otlp/join-logs.ts";
import { decodeExport, encodingOf, exportReply, otlpBody, otlpOperation } from "./read-export.ts";

const logsExample = {
  resourceLogs: [
    {
      scopeLogs: [
        {
          logRecords: [
            {
              timeUnixNano: "1767323045000000000",
              eventName: "gen_ai.user.message",
              traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
              spanId: "00f067aa0ba902b7",
              body: { kvlistValue: { values: [{ key: "content", value: { stringValue: "Hello" } }] } },
            },
          ],
        },
      ],
    },
  ],
};

const body = z.object({ resourceLogs: z.array(z.looseObject({})) }).meta({ id: "OtlpLogs" });
const decoders = { json: decodeJsonLogs, protobuf: decodeProtobufLogs };

export const ingestOtlpLogs = (deps: { intake: SpanIntake; logs: Pick<LogJoiner, "accept" | "eventsFor"> }) =>
  endpoint({
    id: "ingest_otlp_logs",
    ...otlpOperation,
    path: "/api/v1/logs",
    aliases: ["/v1/logs", "/api/v2/logs", "/api/v2/traces/v1/logs", "/api/public/otel/v1/logs"],
    summary: "Join GenAI log events to their spans over OTLP/HTTP",
    description:
      "Instrumentations that keep prompts and answers out of spans send them as log records. Records with messages " +
      "that name a span complete it, in either order of arrival. So do exceptions, which mark it as an error, and " +
      "results of evaluations, which become scores. Prompts, model calls and tool calls that Claude Code, Codex and the " +
      "Gemini CLI log without a span become spans themselves. All other records are dropped.",
    body: {
      ...otlpBody,
      documents: body,
      example: logsExample,
    },
    errors: ["invalid_request", "forbidden", "payload_too_large", "unsupported_media_type", "unavailable"],
    async handler({ principal, body }) {
      const encoding = encodingOf(body);
      const request = decodeExport(body.bytes, encoding, decoders);
      const origin = originOf(principal, "tracing_integration");
      await deps.logs.accept(request, origin);
      const spans = await acceptTraces(spansOfAgentLogs(request), origin, deps);
      const rejected = request.malformed + spans.rejected.length;
      if (rejected === 0) return exportReply(encoding);
      const message = [...describeMalformed(request.malformed), ...new Set(spans.rejected)].join("; ");
      if (request.groups.every(({ items }) => items.length === 0)) {
        const hint = "If this is a traces export, send it to /api/v2/traces.";
        throw new ServiceError("invalid_request", `No log record was accepted: ${message}. ${hint}`);
      }
      return exportReply(encoding, { rejectedField: "rejectedLogRecords", rejected, message });
    },
  });

function describeMalformed(count: number): string[] {
  if (count === 0) return [];
  return [`${count} ${count === 1 ? "log record" : "log records"} could not be decoded`];
}
