import type { ColumnType, Generated, Selectable } from "kysely";
import type { AlertSchema } from "./alert-tables.ts";
import type { SavedView } from "../../domain/saved-view.ts";
import type { CustomerKeyColumns } from "./customer-key.ts";
import type { PriceSchema } from "./price-tables.ts";

/**
 * The tables, in the subset that SQLite and Postgres share: text, integer, double, null. Times are ISO 8601 text in UTC with
 * milliseconds, which sorts as time; flags are 0 and 1; lists are JSON text.
 */
export type ControlSchema = AlertSchema &
  PriceSchema & {
    leases: { name: string; owner: string; expires_at: string };
    instance: InstanceTable;
    schema_support: { id: number; runs_from: string };
    organizations: OrganizationTable;
    users: UserTable;
    sessions: SessionTable;
    sign_in_codes: SignInCodeTable;
    invitations: InvitationTable;
    audit_log: AuditTable;
    api_keys: ApiKeyTable;
    trace_shares: TraceShareTable;
    trace_deletions: TraceDeletionTable;
    webhooks: WebhookTable;
    webhook_deliveries: WebhookDeliveryTable;
    webhook_payloads: WebhookPayloadTable;
    trace_watches: TraceWatchTable;
    provider_settings: ProviderSettingTable;
    conditions: ConditionTable;
    evaluators: EvaluatorTable;
    evaluator_versions: EvaluatorVersionTable;
    automations: AutomationTable;
    automation_evaluators: AutomationEvaluatorTable;
    automation_spend: AutomationSpendTable;
    evaluation_runs: EvaluationRunTable;
    judgement_reservations: JudgementReservationTable;
    scores: ScoreTable;
    customers: CustomerTable;
    customer_spend: CustomerSpendTable;
    customer_reservations: CustomerReservationTable;
    customer_erasures: CustomerErasureTable;
    saved_views: SavedView;
  };

/** One row, written by the first setup of the instance. */
type InstanceTable = { id: number; initialized_at: string; secret_check: string | null };

type OrganizationTable = {
  id: number;
  unique_organization_id: string;
  name: string;
  retention_days: number | null;
  created_at: string;
  blocked_at: string | null;
  test_uses_prod_providers: Generated<number>;
};

type UserTable = {
  id: string;
  unique_organization_id: string;
  email: string;
  password_hash: string;
  role: string;
  is_instance_admin: number;
  token_version: number;
  created_at: string;
};

type ApiKeyTable = {
  id: string;
  unique_organization_id: string;
  name: string;
  environment: string;
  hash: string;
  prefix: string;
  permissions: string;
  user_id: string | null;
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
  last_used_at: string | null;
  max_usage: number | null;
  usage_count: Generated<number>;
};

/** `ends_at` is set only for browser sessions, whose `id` is a hash. */
type SessionTable = {
  id: string;
  user_id: string;
  sequence: number;
  created_at: string;
  expires_at: string;
  ends_at: string | null;
};

type SignInCodeTable = { code_hash: string; user_id: string; expires_at: string };

export type InvitationTable = {
  id: string;
  unique_organization_id: string;
  email: string;
  role: string;
  token_hash: string;
  created_at: string;
  expires_at: string;
};

/** `changes` is a JSON object. */
export type AuditTable = {
  id: string;
  unique_organization_id: string;
  created_at: string;
  actor_type: string;
  actor_id: string | null;
  actor_name: string;
  action: string;
  target: string | null;
  environment: string | null;
  changes: string;
  ip: string | null;
  request_id: string | null;
};

type TraceShareTable = {
  unique_organization_id: string;
  trace_unique_id: string;
  environment: string;
  is_public: number;
  updated_at: string;
};

/** Nanoseconds are text: they do not fit the integers that drivers return. */
type TraceDeletionTable = {
  id: Generated<number>;
  unique_organization_id: string;
  environment: string;
  trace_unique_id: string;
  from_ns: string;
  to_ns: string;
  deleted_at: string;
};

/** `weight` is a number as text, since the shared subset has no fractions; `fields` is a JSON object. */
type ProviderSettingTable = {
  id: string;
  unique_organization_id: string;
  provider: string;
  name: string;
  environment: string | null;
  base_url: string | null;
  fields: string;
  available_models: string | null;
  exclude_models: string;
  weight: string;
  is_enabled: number;
  secret: string | null;
  secret_tail: string;
  created_at: string;
  updated_at: string;
};

type ConditionTable = {
  id: string;
  unique_organization_id: string;
  condition_slug: string;
  name: string;
  condition_type: string;
  description: string;
  condition_policy: string;
  created_at: string;
  updated_at: string;
};

type EvaluatorTable = {
  id: string;
  unique_organization_id: string;
  evaluator_slug: string;
  definition: string;
  starred: number;
  created_at: string;
  updated_at: string;
};

type EvaluatorVersionTable = {
  version_id: string;
  evaluator_id: string;
  version: number;
  version_description: string;
  definition: string;
  created_at: string;
};

type AutomationTable = {
  id: string;
  unique_organization_id: string;
  environment: string;
  automation_slug: string;
  name: string;
  automation_type: string;
  condition_id: string;
  is_enabled: number;
  configuration: string;
  last_error: string | null;
  last_error_at: string | null;
  created_at: string;
  updated_at: string;
};

type AutomationEvaluatorTable = { automation_id: string; evaluator_id: string; position: number };

/** By UTC day. Drivers return wide integers as text. */
type AutomationSpendTable = { automation_id: string; day: string; spent_micro_usd: number | string };

/** One claim of a run, identified by `attempt`. */
type JudgementReservationTable = {
  run_id: number;
  attempt: number;
  automation_id: string;
  day: string;
  amount_micro_usd: number | string;
};

/** `due_at` of a running row is the end of its owner's claim. */
type EvaluationRunTable = {
  id: Generated<number>;
  automation_id: string;
  evaluator_id: string;
  log_id: string;
  unique_organization_id: string;
  environment: string;
  log_timestamp: string;
  state: string;
  attempts: number;
  crashes: Generated<number>;
  due_at: string;
  owner: string | null;
  created_at: string;
};

/** `revision` is microseconds as 16 digits: it orders the states of a score in its copy in the span store. */
type ScoreTable = {
  id: string;
  unique_organization_id: string;
  environment: string;
  log_id: string;
  evaluator_id: string;
  automation_id: string | null;
  document: string;
  revision: string;
  is_deleted: number;
  is_mirrored: number;
  created_at: string;
};

/** `metadata` and `sent` are JSON objects. `is_indexed` is 0 until the span store has the current row. */
type CustomerTable = CustomerKeyColumns & {
  email: string | null;
  name: string | null;
  metadata: string;
  group_identifier: string | null;
  period_budget: number | null;
  budget_duration: string | null;
  period_start: string | null;
  period_end: string | null;
  total_budget: number | null;
  markup_percentage: number;
  rate_limit: number | null;
  unpriced_calls: string | null;
  sent: string;
  first_seen: string;
  created_at: string;
  updated_at: string;
  is_indexed: number;
};

/** Billionths of a dollar: written as big integers, read as text. */
type BigInteger = ColumnType<string, bigint, bigint>;

type CustomerSpendTable = CustomerKeyColumns & {
  /** The period that `period_spent` belongs to; '' if the customer has none. */
  period_start: string;
  period_spent: BigInteger;
  total_spent: BigInteger;
  reserved: BigInteger;
  /** The period whose budget was last reported as reached, '' before. */
  reached_period: string;
  reached_period_budget: bigint | null;
  reached_total_budget: bigint | null;
};

type CustomerReservationTable = CustomerKeyColumns & {
  id: string;
  node_id: string;
  amount: BigInteger;
  expires_at: string;
};

export type CustomerRow = Selectable<CustomerTable>;
type WebhookTable = {
  id: number;
  unique_organization_id: string;
  environment: string | null;
  organization_key: string | null;
  name: string;
  url: string;
  event_type: string;
  active: number;
  secret: string;
  previous_secret: string | null;
  previous_secret_until: string | null;
  failing_since: string | null;
  disabled_at: string | null;
  disabled_reason: string | null;
  skipped_events: number;
  created_at: string;
  updated_at: string;
  legacy_signatures: number;
  channel: Generated<string>;
  alert_id: string | null;
};

type WebhookDeliveryTable = {
  id: Generated<number>;
  webhook_id: number;
  unique_organization_id: string;
  environment: string;
  event_id: string;
  event_type: string;
  bytes: number;
  status: string;
  attempts: number;
  next_attempt_at: string | null;
  expires_at: string;
  created_at: string;
  last_attempt_at: string | null;
  response_status: number | null;
  response_body: string | null;
  error: string | null;
  trace_unique_id: string | null;
};

type WebhookPayloadTable = { delivery_id: number; payload: string };

/** `last_received` is a time in the format of the span table. */
type TraceWatchTable = {
  id: Generated<number>;
  unique_organization_id: string;
  environment: string;
  trace_unique_id: string;
  last_received: string;
  due_at: string;
};

export type OrganizationRow = Selectable<OrganizationTable>;
export type UserRow = Selectable<UserTable>;
type CustomerErasureTable = {
  unique_organization_id: string;
  environment: string;
  fingerprint: string;
  customer_identifier: string | null;
  erased_at: string;
};

export type CustomerErasureRow = Selectable<CustomerErasureTable>;
export type TraceDeletionRow = Selectable<TraceDeletionTable>;
export type ApiKeyRow = Selectable<ApiKeyTable>;
export type ConditionRow = Selectable<ConditionTable>;
export type EvaluatorRow = Selectable<EvaluatorTable>;
export type EvaluatorVersionRow = Selectable<EvaluatorVersionTable>;
export type EvaluationRunRow = Selectable<EvaluationRunTable>;
export type ScoreRow = Selectable<ScoreTable>;
export type AutomationRow = Selectable<AutomationTable>;
export type ProviderSettingRow = Selectable<ProviderSettingTable>;
export type ModelPriceRow = Selectable<PriceSchema["model_prices"]>;
export type WebhookRow = Selectable<WebhookTable>;
export type WebhookDeliveryRow = Selectable<WebhookDeliveryTable>;
