/** Which logs an automation is about. */
export const conditionTypes = ["single_log"] as const;
export type ConditionType = (typeof conditionTypes)[number];

export type ConditionRule = { field: string; operator?: string; value?: unknown; connector?: string };

/** In the filter language, as filter/parse.ts reads it. */
export type ConditionPolicy = { rules: ConditionRule[]; connector?: string };

export type Condition = {
  id: string;
  unique_organization_id: string;
  /** Unique in the organization; cannot be changed. */
  condition_slug: string;
  name: string;
  condition_type: ConditionType;
  description: string;
  condition_policy: ConditionPolicy;
  created_at: string;
  updated_at: string;
};
