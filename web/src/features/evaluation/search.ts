import { choiceOf, textOf } from "../../lib/search.ts";

export const evaluationTabs = ["evaluators", "conditions", "automations", "scores"] as const;

export type EvaluationTab = (typeof evaluationTabs)[number];

export type EvaluationSearch = {
  tab?: EvaluationTab | undefined;
  /** The id of the record open in the tab; `new` for a new one. */
  evaluator?: string | undefined;
  condition?: string | undefined;
  automation?: string | undefined;
  page?: number | undefined;
  view?: "table" | undefined;
};

export function parseEvaluationSearch(search: Record<string, unknown>): EvaluationSearch {
  const tab = choiceOf(search, "tab", evaluationTabs);
  const evaluator = textOf(search, "evaluator");
  const condition = textOf(search, "condition");
  const automation = textOf(search, "automation");
  const page = Number(textOf(search, "page") ?? 1);
  const view = choiceOf(search, "view", ["table"]);
  return {
    ...(tab && { tab }),
    ...(evaluator && { evaluator }),
    ...(condition && { condition }),
    ...(automation && { automation }),
    ...(Number.isInteger(page) && page > 1 && { page }),
    ...(view && { view }),
  };
}
