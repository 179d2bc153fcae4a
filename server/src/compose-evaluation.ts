import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { SpanRow } from "./domain/span.ts";
import { createActiveAutomations } from "./evaluation/active-automations.ts";
import type { Evaluation } from "./evaluation/evaluation.ts";
import { startScoreMirror } from "./evaluation/score-mirror.ts";
import type { Catalogue } from "./filter/catalogue.ts";
import { randomToken } from "./lib/random-token.ts";
import type { ControlStores } from "./storage/control/control-stores.ts";
import type { SpanStore } from "./storage/spans/span-store.ts";
import { createEvaluationMetrics } from "./telemetry/evaluation-metrics.ts";

export type EvaluationParts = {
  stores: ControlStores;
  spans: SpanStore;
  catalogue: Catalogue<SpanRow>;
  registry: Registry;
  logger: Logger;
  cleanup: Array<() => Promise<void> | void>;
};

/** Conditions, automations and their evaluators, ready to judge what is accepted. */
export async function composeEvaluation(parts: EvaluationParts): Promise<Evaluation> {
  const { stores, spans, catalogue, registry, logger, cleanup } = parts;
  const metrics = createEvaluationMetrics(registry);
  const activeAutomations = createActiveAutomations({
    automations: stores.automations,
    catalogue,
    onUnreadable: (automationId, error) => logger.error({ err: error, automationId }, "a condition is unreadable"),
  });
  await activeAutomations.refresh();
  const scoreMirror = startScoreMirror({
    scores: stores.scores,
    stores,
    spans,
    logger,
    nodeId: randomToken(12),
    onFailure: () => metrics.mirrorFailures.inc(),
  });
  cleanup.push(() => scoreMirror.stop());
  return { activeAutomations, scoreMirror, onScore: () => undefined };
}
