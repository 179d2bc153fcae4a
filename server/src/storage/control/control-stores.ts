import { createAlertStore, type AlertStore } from "./alert-store.ts";
import { createApiKeyStore, type ApiKeyStore } from "./api-key-store.ts";
import { createAuditStore, type AuditStore } from "./audit-store.ts";
import { createAutomationStore, type AutomationStore } from "./automation-store.ts";
import { createConditionStore, type ConditionStore } from "./condition-store.ts";
import { createEvaluationRunStore, type EvaluationRunStore } from "./evaluation-run-store.ts";
import { createEvaluatorStore, type EvaluatorStore } from "./evaluator-store.ts";
import { createCustomerErasureStore, type CustomerErasureStore } from "./customer-erasure-store.ts";
import { createCustomerLedger, type CustomerLedger } from "./customer-ledger.ts";
import { createCustomerStore, type CustomerStore } from "./customer-store.ts";
import { createDeliveryStore, type DeliveryStore } from "./delivery-store.ts";
import { createInvitationStore, type InvitationStore } from "./invitation-store.ts";
import { createJudgementLedger, type JudgementLedger } from "./judgement-ledger.ts";
import type { ControlDatabase, ControlQueries } from "./open-control-database.ts";
import { createLeaseStore, type LeaseStore } from "./lease-store.ts";
import { createModelPriceStore } from "./model-price-store.ts";
import { createOrganizationStore, type OrganizationStore } from "./organization-store.ts";
import { createPriceTableStore } from "./price-table-store.ts";
import type { ModelPriceStore, PriceTableStore } from "../../pricing/own/price-stores.ts";
import { createProviderSettingStore, type ProviderSettingStore } from "./provider-setting-store.ts";
import { createSavedViewStore, type SavedViewStore } from "./saved-view-store.ts";
import { createScoreStore, type ScoreStore } from "./score-store.ts";
import { createSessionStore, type SessionStore } from "./session-store.ts";
import { createSignInCodeStore, type SignInCodeStore } from "./sign-in-code-store.ts";
import { createTraceDeletionStore, type TraceDeletionStore } from "./trace-deletion-store.ts";
import { createTraceShareStore, type TraceShareStore } from "./trace-share-store.ts";
import { createTraceWatchStore, type TraceWatchStore } from "./trace-watch-store.ts";
import { createUserStore, type UserStore } from "./user-store.ts";
import { createWebhookStore, type WebhookStore } from "./webhook-store.ts";
import { createInstanceStore, type InstanceStore } from "./instance-store.ts";

export type ControlStoreSet = {
  instance: InstanceStore;
  organizations: OrganizationStore;
  users: UserStore;
  sessions: SessionStore;
  signInCodes: SignInCodeStore;
  invitations: InvitationStore;
  auditLog: AuditStore;
  apiKeys: ApiKeyStore;
  traceShares: TraceShareStore;
  traceDeletions: TraceDeletionStore;
  webhooks: WebhookStore;
  deliveries: DeliveryStore;
  traceWatches: TraceWatchStore;
  providerSettings: ProviderSettingStore;
  conditions: ConditionStore;
  evaluators: EvaluatorStore;
  automations: AutomationStore;
  scores: ScoreStore;
  evaluationRuns: EvaluationRunStore;
  judgementLedger: JudgementLedger;
  customers: CustomerStore;
  customerLedger: CustomerLedger;
  modelPrices: ModelPriceStore;
  priceTables: PriceTableStore;
  customerErasures: CustomerErasureStore;
  alerts: AlertStore;
  savedViews: SavedViewStore;
  leases: LeaseStore;
};

export type ControlStores = ControlStoreSet & {
  /** Runs `work` on stores whose changes become visible together, or not at all if it throws. */
  transaction: <T>(work: (stores: ControlStoreSet) => Promise<T>) => Promise<T>;
  /**
   * The same without waiting for the disk: a power cut may lose the changes, so use it only for work that is then
   * repeated.
   */
  unflushed: <T>(work: (stores: ControlStoreSet) => Promise<T>) => Promise<T>;
};

export function createControlStores(database: ControlDatabase): ControlStores {
  return {
    ...storeSet(database.queries),
    transaction: (work) => database.transaction((queries) => work(storeSet(queries))),
    unflushed: (work) => database.unflushed((queries) => work(storeSet(queries))),
  };
}

function storeSet(queries: ControlQueries): ControlStoreSet {
  return {
    instance: createInstanceStore(queries),
    organizations: createOrganizationStore(queries),
    users: createUserStore(queries),
    sessions: createSessionStore(queries),
    signInCodes: createSignInCodeStore(queries),
    invitations: createInvitationStore(queries),
    auditLog: createAuditStore(queries),
    apiKeys: createApiKeyStore(queries),
    traceShares: createTraceShareStore(queries),
    traceDeletions: createTraceDeletionStore(queries),
    webhooks: createWebhookStore(queries),
    deliveries: createDeliveryStore(queries),
    traceWatches: createTraceWatchStore(queries),
    providerSettings: createProviderSettingStore(queries),
    conditions: createConditionStore(queries),
    evaluators: createEvaluatorStore(queries),
    automations: createAutomationStore(queries),
    scores: createScoreStore(queries),
    evaluationRuns: createEvaluationRunStore(queries),
    judgementLedger: createJudgementLedger(queries),
    customers: createCustomerStore(queries),
    customerLedger: createCustomerLedger(queries),
    modelPrices: createModelPriceStore(queries),
    priceTables: createPriceTableStore(queries),
    customerErasures: createCustomerErasureStore(queries),
    alerts: createAlertStore(queries),
    savedViews: createSavedViewStore(queries),
    leases: createLeaseStore(queries),
  };
}
