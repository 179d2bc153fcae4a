import type { Score } from "../domain/score.ts";
import type { SpanRow } from "../domain/span.ts";
import { httpLimits } from "../http/limits.ts";
import type { SpanSubscriber } from "../ingest/fan-out/fan-out.ts";
import { asText } from "../ingest/otlp/attribute-bag.ts";
import { evaluationEvent, eventsKey } from "../ingest/otlp/collect-metadata.ts";
import { isObject, parseJsonText } from "../lib/json.ts";
import type { ControlStores, ControlStoreSet } from "../storage/control/control-stores.ts";
import { evaluationLimits } from "./limits.ts";
import { evaluatorsNamed, slugOfName } from "./named-evaluator.ts";
import { scoreOfResult } from "./score-of-result.ts";

/** The result of an evaluation made elsewhere, for a span. */
export type EvaluationResult = {
  name: string;
  /** A number, or a number as text, if the exporter follows the conventions. */
  value: number | string | boolean | undefined;
  /** The meaning of the value: `pass`, `relevant`. */
  label: string | undefined;
  explanation: string | undefined;
  /** Why there is neither value nor label. */
  error: string | undefined;
};

type SentScoresDeps = {
  stores: Pick<ControlStores, "transaction">;
  /** Called with the number of results per outcome. */
  count: (outcome: "scored" | "failed" | "known" | "left_out", results: number) => void;
  /** Called when there are new scores. */
  wake: () => void;
  now: () => number;
};

type Sent = { row: SpanRow; result: EvaluationResult; slug: string };

/**
 * Creates scores from the evaluation results that arrive on spans. The evaluator is found by name, or created, as
 * customers are. A span has one score per evaluator: the first result counts, however often it is sent.
 */
export function createSentScores({ stores, count, wake, now }: SentScoresDeps): SpanSubscriber {
  return {
    name: "sent_scores",
    wants: () => true,
    concerns: ({ metadata }) => evaluationsIn(metadata).length > 0,
    async consume(batch) {
      for (const [organizationId, parts] of Map.groupBy(batch, (part) => part.organizationId)) {
        const found = parts.flatMap(({ rows }) => rows.map((row) => ({ row, results: evaluationsIn(row.metadata) })));
        const sent = found.flatMap(({ row, results }) =>
          results
            .slice(0, evaluationLimits.scoresSentPerSpan)
            .map((result): Sent => ({ row, result, slug: slugOfName(result.name) })),
        );
        if (sent.length === 0) continue;
        const { made, added } = await stores.transaction((set) => record(set, organizationId, sent, now()));
        const all = found.reduce((sum, { results }) => sum + results.length, 0);
        const failed = added.filter(({ status }) => status === "failed").length;
        count("scored", added.length - failed);
        count("failed", failed);
        count("known", made - added.length);
        count("left_out", all - made);
        if (added.length > 0) wake();
      }
    },
  };
}

async function record(
  set: ControlStoreSet,
  organizationId: string,
  sent: readonly Sent[],
  nowMs: number,
): Promise<{ made: number; added: readonly Score[] }> {
  const at = new Date(nowMs).toISOString();
  const evaluators = await evaluatorsNamed(set, organizationId, { results: sent, at });
  const scores = sent.flatMap(({ row, slug, result }) => {
    const evaluator = evaluators.get(slug);
    return evaluator === undefined ? [] : [scoreOfResult(row, evaluator, result, at)];
  });
  return { made: scores.length, added: await set.scores.add(scores, nowMs) };
}

/** The results among the events in a span's metadata, which is a value or its JSON text. */
function evaluationsIn(metadata: unknown): EvaluationResult[] {
  const given = typeof metadata === "string" && metadata.includes(evaluationEvent) ? parsed(metadata) : metadata;
  const events = isObject(given) ? given[eventsKey] : undefined;
  if (!Array.isArray(events)) return [];
  return (events as unknown[]).flatMap((event) => {
    if (!isObject(event) || event["name"] !== evaluationEvent || !isObject(event["attributes"])) return [];
    return resultOf(event["attributes"]) ?? [];
  });
}

function resultOf(attributes: Record<string, unknown>): EvaluationResult | undefined {
  const name = textIn(attributes, "gen_ai.evaluation.name")?.slice(0, httpLimits.nameChars).toWellFormed();
  const given = attributes["gen_ai.evaluation.score.value"];
  const value = typeof given === "number" || typeof given === "boolean" ? given : asText(given);
  const label = textIn(attributes, "gen_ai.evaluation.score.label");
  const error = textIn(attributes, "error.message", "error.type");
  if (name === undefined || (value ?? label ?? error) === undefined) return undefined;
  return { name, value, label, error, explanation: textIn(attributes, "gen_ai.evaluation.explanation") };
}

function textIn(attributes: Record<string, unknown>, ...keys: readonly string[]): string | undefined {
  return keys.map((key) => asText(attributes[key])).find((text) => text !== undefined && text !== "");
}

function parsed(text: string): unknown {
  const result = parseJsonText(text);
  return result.ok ? result.value : undefined;
}
