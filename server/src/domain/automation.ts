import type { ConditionPolicy } from "./condition.ts";
import type { Environment } from "./principal.ts";

export const automationTypes = ["online_eval"] as const;
export type AutomationType = (typeof automationTypes)[number];

/** Additional members are kept as sent. */
export type AutomationConfiguration = {
  /** Share of the matching logs that is evaluated, from 0 to 1. */
  sampling_rate: number;
  /** USD that model judges may cost per UTC day; absent: the server's default. */
  daily_budget?: number | undefined;
} & Record<string, unknown>;

/** Evaluators judge logs of one environment that match a condition. */
export type Automation = {
  id: string;
  unique_organization_id: string;
  environment: Environment;
  /** Unique in the organization; cannot be changed. */
  automation_slug: string;
  name: string;
  automation_type: AutomationType;
  condition_id: string;
  /** At least one. */
  evaluator_ids: string[];
  is_enabled: boolean;
  configuration: AutomationConfiguration;
  /** The last evaluation that failed or was skipped, and why; null if there was none. */
  last_error: string | null;
  last_error_at: string | null;
  created_at: string;
  updated_at: string;
};

/** The part of an enabled automation that the runner needs. */
export type ActiveAutomation = Pick<
  Automation,
  "id" | "unique_organization_id" | "environment" | "evaluator_ids" | "configuration" | "updated_at"
> & { condition_policy: ConditionPolicy };
