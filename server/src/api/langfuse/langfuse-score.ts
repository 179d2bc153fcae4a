import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { ServiceError } from "../../domain/errors.ts";
import type { KeyPrincipal } from "../../domain/principal.ts";
import type { Score } from "../../domain/score.ts";
import type { SpanRow } from "../../domain/span.ts";
import { evaluatorsNamed, slugOfName } from "../../evaluation/named-evaluator.ts";
import { scoreOfResult } from "../../evaluation/score-of-result.ts";
import type { ScoreReplicator } from "../../evaluation/score-replicator.ts";
import type { EvaluationResult } from "../../evaluation/sent-scores.ts";
import type { Filter } from "../../filter/ast.ts";
import type { Catalogue } from "../../filter/catalogue.ts";
import { toClickHouse } from "../../filter/to-clickhouse.ts";
import { validate } from "../../http/validate.ts";
import { formatUuid, spanIdentity } from "../../domain/identity.ts";
import { maxTimeNs, minTimeNs } from "../../lib/time.ts";
import { apiLimits } from "../limits.ts";
import { domainLimits } from "../../domain/limits.ts";
import { evaluationLimits } from "../../evaluation/limits.ts";
import { httpLimits } from "../../http/limits.ts";
import type { ControlStores } from "../../storage/control/control-stores.ts";
import type { SpanStore } from "../../storage/spans/span-store.ts";

/** Scores as Langfuse's SDKs send them. https://api.reference.langfuse.com/#tag/score */
export type LangfuseScoreDeps = {
  stores: Pick<ControlStores, "transaction">;
  spans: Pick<SpanStore, "listSpans" | "retrieveTraces">;
  catalogue: Catalogue<SpanRow>;
  scoreReplicator: Pick<ScoreReplicator, "wake">;
  nowMs: () => number;
};

const name = z.string().min(1).max(httpLimits.nameChars);

export const langfuseScoreSchema = z
  .looseObject({
    name: name.meta({ description: "The evaluator; it is created if it does not exist." }),
    value: z.union([z.number(), z.string().min(1).max(evaluationLimits.scoreTextChars), z.boolean()]),
    traceId: z.string().min(1).max(domainLimits.identifierChars),
    observationId: z
      .string()
      .max(domainLimits.identifierChars)
      .nullish()
      .meta({ description: "The span. Default: the root of the trace." }),
    dataType: z
      .enum(["NUMERIC", "BOOLEAN", "CATEGORICAL", "TEXT", "CORRECTION"])
      .nullish()
      .meta({ description: "Default: the type of the value." }),
    comment: z
      .string()
      .max(evaluationLimits.scoreTextChars)
      .nullish()
      .meta({ description: "Becomes the explanation." }),
  })
  .meta({ id: "LangfuseScore" });

export type LangfuseScore = z.output<typeof langfuseScoreSchema>;

/**
 * Stores a score of a span. A resent score, or another value, replaces the span's score of that name. Only a score of a
 * whole trace waits for the trace: the id of a span is derived from the request.
 *
 * @throws ServiceError `invalid_request` if the value does not fit the evaluator, `unavailable` while the trace is
 * missing
 */
export async function recordLangfuseScore(
  deps: LangfuseScoreDeps,
  { organization_id, environment }: Pick<KeyPrincipal, "organization_id" | "environment">,
  { sent, signal }: { sent: LangfuseScore; signal: AbortSignal },
): Promise<Score> {
  const trace = sent.traceId.toLowerCase();
  const span = sent.observationId?.toLowerCase();
  const scope = { organization_id, environment };
  const unique_id = span
    ? formatUuid(spanIdentity({ ...scope, trace, span }))
    : await rootOf(deps, { scope, trace, signal });
  const result = resultOf(sent);
  const at = new Date(deps.nowMs()).toISOString();
  const stored = await deps.stores.transaction(async (set) => {
    const slug = slugOfName(result.name);
    const evaluator = (await evaluatorsNamed(set, organization_id, { results: [{ slug, result }], at })).get(slug);
    if (evaluator === undefined) throw invalid("name", "there is no room for another evaluator");
    const score = scoreOfResult({ ...scope, unique_id }, evaluator, result, at);
    if (score.status === "failed") throw invalid("value", score.error_message ?? "is not a value of this evaluator");
    const [added] = await set.scores.add([score], deps.nowMs());
    if (added !== undefined) return added;
    const known = (await set.scores.listOfLogs(organization_id, [unique_id])).find(
      ({ evaluator_id: id }) => id === evaluator.id,
    );
    return known && set.scores.replace({ ...score, id: known.id, created_at: known.created_at }, deps.nowMs());
  });
  if (stored === undefined) throw new ServiceError("unavailable", "The score changed meanwhile.", { retryAfterS: 1 });
  deps.scoreReplicator.wake();
  return stored;
}

/**
 * The same for one score of several: returns its error message, or undefined. An error that may be temporary fails all
 * of them, so that the SDK sends them again: resending a score does not change it.
 */
export async function recordOneOf(
  deps: LangfuseScoreDeps,
  principal: Pick<KeyPrincipal, "organization_id" | "environment">,
  { given, signal }: { given: unknown; signal: AbortSignal },
): Promise<string | undefined> {
  try {
    const sent = validate(langfuseScoreSchema, given) as LangfuseScore;
    await recordLangfuseScore(deps, principal, { sent, signal });
    return undefined;
  } catch (error) {
    if (error instanceof ServiceError && error.code === "invalid_request") return error.message;
    throw error;
  }
}

function resultOf({ name, value, dataType, comment }: LangfuseScore): EvaluationResult {
  const isText = typeof value === "string" && dataType !== "NUMERIC" && dataType !== "BOOLEAN";
  return {
    name,
    value: isText ? undefined : dataType === "BOOLEAN" && typeof value !== "boolean" ? Number(value) === 1 : value,
    label: isText ? value : undefined,
    explanation: comment ?? undefined,
    error: undefined,
  };
}

const pausesMs = [100, 250, 500, 1_000, 2_000];

/** The id of the root of a trace. SDKs send scores before spans. */
async function rootOf(
  { spans, catalogue, nowMs }: LangfuseScoreDeps,
  {
    scope,
    trace,
    signal,
  }: { scope: Pick<KeyPrincipal, "organization_id" | "environment">; trace: string; signal: AbortSignal },
): Promise<string> {
  const filters: Filter[] = [
    { type: "condition", field: "trace_unique_id", operator: "equal", values: [trace] },
    { type: "condition", field: "span_parent_id", operator: "isnull", values: [true] },
  ];
  const endMs = nowMs() + apiLimits.scoredTraceWaitMs;
  for (let tries = 0; ; tries += 1) {
    const { rows } = await spans.listSpans(
      {
        scope,
        window: { fromNs: minTimeNs, toNs: maxTimeNs },
        filter: toClickHouse({ type: "all", filters }, catalogue),
        sort: { field: "start_time", descending: false },
        page: 1,
        pageSize: 1,
        fields: ["unique_id"],
      },
      signal,
    );
    const [root] = rows;
    if (root !== undefined) return root.unique_id;
    const pauseMs = pausesMs[Math.min(tries, pausesMs.length - 1)] ?? 0;
    if (nowMs() + pauseMs > endMs) break;
    await sleep(pauseMs, undefined, { signal });
  }
  // Its root may belong to another service, which sends its spans elsewhere.
  const [found] = await spans.retrieveTraces(scope, trace, signal);
  if (found !== undefined) return found.root.unique_id;
  throw new ServiceError("unavailable", "There is no span of this trace yet.", { retryAfterS: 5 });
}

function invalid(field: string, message: string): ServiceError {
  return new ServiceError("invalid_request", message, { errors: { [field]: [message] } });
}
