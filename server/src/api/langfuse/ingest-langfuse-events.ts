import { z } from "zod";
import { endpoint } from "../../http/endpoint.ts";
import { isObject } from "../../lib/json.ts";
import { storageLimits } from "../../storage/limits.ts";
import { recordOneOf, type LangfuseScoreDeps } from "./langfuse-score.ts";

const eventSchema = z.looseObject({ id: z.string(), type: z.string(), body: z.unknown() });
/** The handler validates each event, so that a malformed one does not affect the others. */
const anyEvent = z.unknown().meta({ description: "An event: `id`, `type`, `timestamp` and `body`." });
/** Langfuse's name for an event without an id. */
const unknownId = "unknown";
type Outcome = { id: string; status: number; message?: string };

/**
 * Langfuse's SDKs send scores in batches, by the route that once received all of their data; spans now come over OTLP.
 */
export const ingestLangfuseEvents = (deps: LangfuseScoreDeps) =>
  endpoint({
    id: "ingest_langfuse_events",
    method: "POST",
    path: "/api/public/ingestion",
    summary: "Accept the scores of Langfuse's SDKs",
    description:
      "A batch of `score-create` events, as sent by Langfuse's SDKs from version 3 (Python) and 4 (JavaScript) on. Malformed " +
      "events and events of other types are refused one by one: those SDKs send spans over OTLP.",
    tags: ["Scores"],
    auth: "key",
    permission: "scores:write",
    limit: "api",
    dialect: "fields",
    body: {
      kind: "json",
      schema: z.looseObject({ batch: z.array(anyEvent).max(storageLimits.bulkRows) }),
      example: {
        batch: [
          {
            id: "d0a1f9a0-3d5c-4a55-9d0c-0a7f4f1f2a11",
            type: "score-create",
            timestamp: "2026-01-02T03:04:05.000Z",
            body: {
              traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
              observationId: "00f067aa0ba902b7",
              name: "relevance",
              value: 0.9,
            },
          },
        ],
      },
    },
    success: {
      status: 207,
      schema: z.object({
        successes: z.array(z.object({ id: z.string(), status: z.int() })),
        errors: z.array(z.object({ id: z.string(), status: z.int(), message: z.string().optional() })),
      }),
    },
    errors: ["invalid_request", "unavailable"],
    handler: async ({ principal, body, signal }) => {
      const outcomes: Outcome[] = [];
      for (const event of body.batch) outcomes.push(await take(event));
      return {
        successes: outcomes.filter(({ status }) => status === 201),
        errors: outcomes.filter(({ status }) => status !== 201),
      };

      async function take(event: unknown): Promise<Outcome> {
        const read = eventSchema.safeParse(event);
        if (!read.success) {
          const id = isObject(event) && typeof event["id"] === "string" ? event["id"] : unknownId;
          return { id, status: 400, message: "An event is an object with a `body`, and `id` and `type` as text." };
        }
        const { id, type, body: given } = read.data;
        if (type !== "score-create") {
          const message = `Events of type ${type} are not taken: send spans to /api/public/otel/v1/traces.`;
          return { id, status: 400, message };
        }
        const message = await recordOneOf(deps, principal, { given, signal });
        return message === undefined ? { id, status: 201 } : { id, status: 400, message };
      }
    },
  });
