import type { Generated } from "kysely";

export type AlertSchema = { alerts: AlertTable; alert_statuses: AlertStatusTable; alert_history: AlertHistoryTable };

/** `definition` and `counts` are JSON objects; `measured_with` is equal for rules that one query measures. */
export type AlertTable = {
  id: string;
  unique_organization_id: string;
  environment: string;
  name: string;
  is_enabled: number;
  definition: string;
  measured_with: string;
  revision: number;
  evaluated_until: string | null;
  next_evaluation_at: string;
  counts: string;
  last_error: string | null;
  last_error_at: string | null;
  tested_at: string | null;
  created_at: string;
  updated_at: string;
};

/** `statuses` is a JSON list that results from `definition`. */
type AlertStatusTable = { alert_id: string; definition: string; window_end: string; statuses: string };

/** `entry` is a JSON object. */
type AlertHistoryTable = {
  id: Generated<number>;
  alert_id: string;
  unique_organization_id: string;
  environment: string;
  customer_identifier: string | null;
  event_id: string | null;
  entry: string;
  created_at: string;
};
