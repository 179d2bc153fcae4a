import type { Logger } from "pino";
import type { SpanRow } from "./domain/span.ts";
import { createActiveAutomations, type ActiveAutomations } from "./evaluation/active-automations.ts";
import type { Catalogue } from "./filter/catalogue.ts";
import type { ControlStores } from "./storage/control/control-stores.ts";

export type Evaluation = { activeAutomations: ActiveAutomations };

export type EvaluationParts = {
  stores: ControlStores;
  catalogue: Catalogue<SpanRow>;
  logger: Logger;
};

/** Conditions, automations and their evaluators, ready to judge what is accepted. */
export async function composeEvaluation({ stores, catalogue, logger }: EvaluationParts): Promise<Evaluation> {
  const activeAutomations = createActiveAutomations({
    automations: stores.automations,
    catalogue,
    onUnreadable: (automationId, error) => logger.error({ err: error, automationId }, "a condition is unreadable"),
  });
  await activeAutomations.refresh();
  return { activeAutomations };
}
