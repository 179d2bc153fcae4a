import { slugOf } from "../../lib/slug.ts";
import type { Automation } from "./automation-queries.ts";
import type { Problems } from "./draft.ts";

/** The automation form's values, as typed. */
export type AutomationDraft = {
  base: Automation | undefined;
  name: string;
  slug: string;
  condition: string;
  evaluators: readonly string[];
  /** In percent. */
  sampling: string;
  /** In USD; empty means the server's default. */
  budget: string;
  isEnabled: boolean;
};

export function automationDraftOf(automation: Automation | undefined): AutomationDraft {
  const budget = automation?.configuration["daily_budget"];
  return {
    base: automation,
    name: automation?.name ?? "",
    slug: automation?.automation_slug ?? "",
    condition: automation?.condition.id ?? "",
    evaluators: automation?.evaluator_ids ?? [],
    sampling: percentText(automation?.configuration.sampling_rate ?? 1),
    budget: typeof budget === "number" ? String(budget) : "",
    isEnabled: automation?.is_enabled ?? true,
  };
}

/** Rounds, because 0.07 × 100 is 7.000000000000001. */
export const percentText = (share: number): string => String(Number((share * 100).toPrecision(12)));

type Read = { ok: true; body: Record<string, unknown> } | { ok: false; problems: Problems };

/** The request body of a draft. Problems have the API's field names. */
export function readAutomationDraft(draft: AutomationDraft): Read {
  const problems: Record<string, string[]> = {};
  const sampling = Number(draft.sampling);
  if (draft.sampling.trim() === "" || !(sampling >= 0 && sampling <= 100)) {
    problems["configuration.sampling_rate"] = ["A number from 0 to 100."];
  }
  if (!(Number(draft.budget) >= 0)) problems["configuration.daily_budget"] = ["A number of dollars."];
  if (draft.condition === "") problems["condition"] = ["Choose a condition."];
  if (draft.evaluators.length === 0) problems["evaluator_ids"] = ["Choose at least one evaluator."];
  const body = {
    name: draft.name.trim(),
    condition: draft.condition,
    evaluator_ids: [...draft.evaluators],
    is_enabled: draft.isEnabled,
    configuration: {
      sampling_rate: Number((sampling / 100).toPrecision(12)),
      ...budgetOf(draft),
    },
    ...(draft.base === undefined && {
      automation_slug: draft.slug.trim() || slugOf(draft.name, "automation"),
      automation_type: "online_eval",
    }),
  };
  return Object.keys(problems).length > 0 ? { ok: false, problems } : { ok: true, body };
}

/** Null clears a budget that was set. */
function budgetOf({ base, budget }: AutomationDraft): { daily_budget?: number | null } {
  if (budget.trim() !== "") return { daily_budget: Number(budget) };
  return base?.configuration["daily_budget"] === undefined ? {} : { daily_budget: null };
}
