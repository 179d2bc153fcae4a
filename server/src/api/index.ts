import type { Customers } from "../customers/customers.ts";
import type { CachingAuthenticator } from "../auth/authenticator.ts";
import type { BrowserSessions } from "../auth/browser-sessions.ts";
import type { NoteFailedLogin } from "../auth/failed-logins.ts";
import type { LoginThrottle } from "../auth/login-throttle.ts";
import type { Passwords } from "../auth/passwords.ts";
import type { Sessions } from "../auth/sessions.ts";
import type { Audit } from "../http/audit.ts";
import { createCustomerCatalogue } from "../filter/customer-fields.ts";
import { createThreadCatalogue } from "../filter/thread-fields.ts";
import { withNewMessages } from "../storage/spans/queries/new-messages.ts";
import { createTraceCatalogue } from "../filter/trace-fields.ts";
import type { Deliverer } from "../delivery/deliverer.ts";
import type { WebhookDirectory } from "../delivery/webhook-directory.ts";
import type { WebhookSecrets } from "../delivery/webhook-secrets.ts";
import type { Evaluation } from "../evaluation/evaluation.ts";
import type { CallOperation } from "../gateway/call/operation.ts";
import type { CallRunner } from "../gateway/call/run-call.ts";
import type { Transcription } from "../gateway/transcription/transcription.ts";
import type { KnownProviders } from "../gateway/credentials/known-providers.ts";
import type { ProviderSettings } from "../gateway/credentials/provider-settings.ts";
import type { ModelLister } from "../gateway/models/list-reachable.ts";
import type { AnyEndpoint } from "../http/endpoint.ts";
import type { SpanIntake } from "../ingest/accept/accept.ts";
import type { SpanEditor } from "../ingest/span-editor.ts";
import type { SpanRepricing } from "../jobs/reprice-spans.ts";
import type { LiveTail } from "../ingest/live/live-tail.ts";
import type { LogJoiner } from "../ingest/otlp/join-logs.ts";
import type { TraceDeletions } from "../jobs/trace-deletions.ts";
import type { ControlStores } from "../storage/control/control-stores.ts";
import type { SpanStore } from "../storage/spans/span-store.ts";
import type { Attempt } from "../delivery/attempt.ts";
import { createAlert } from "./alerts/create-alert.ts";
import { deleteAlert } from "./alerts/delete-alert.ts";
import { listAlertHistory } from "./alerts/list-alert-history.ts";
import { listAlerts } from "./alerts/list-alerts.ts";
import { retrieveAlert } from "./alerts/retrieve-alert.ts";
import { testAlert } from "./alerts/test-alert.ts";
import { updateAlert } from "./alerts/update-alert.ts";
import { createApiKey } from "./api-keys/create-api-key.ts";
import { deleteApiKey } from "./api-keys/delete-api-key.ts";
import { updateApiKey } from "./api-keys/update-api-key.ts";
import { listApiKeys } from "./api-keys/list-api-keys.ts";
import { listAuditLog } from "./audit-log/list-audit-log.ts";
import { changePassword } from "./auth/change-password.ts";
import { endSession } from "./auth/end-session.ts";
import { getMe } from "./auth/get-me.ts";
import { listSessions } from "./auth/list-sessions.ts";
import { login } from "./auth/login.ts";
import { logout } from "./auth/logout.ts";
import { refresh } from "./auth/refresh.ts";
import { signInByCode } from "./auth/sign-in-by-code.ts";
import { createAutomation } from "./automations/create-automation.ts";
import { deleteAutomation } from "./automations/delete-automation.ts";
import { listAutomations } from "./automations/list-automations.ts";
import { retrieveAutomation } from "./automations/retrieve-automation.ts";
import { updateAutomation } from "./automations/update-automation.ts";
import { createCondition } from "./conditions/create-condition.ts";
import { deleteCondition } from "./conditions/delete-condition.ts";
import { listConditions } from "./conditions/list-conditions.ts";
import { retrieveCondition } from "./conditions/retrieve-condition.ts";
import { updateCondition } from "./conditions/update-condition.ts";
import { createEvaluator } from "./evaluators/create-evaluator.ts";
import { deleteEvaluator } from "./evaluators/delete-evaluator.ts";
import {
  createEvaluatorVersion,
  listEvaluatorVersions,
  retrieveEvaluatorVersion,
} from "./evaluators/evaluator-versions.ts";
import { listEvaluators } from "./evaluators/list-evaluators.ts";
import { retrieveEvaluator } from "./evaluators/retrieve-evaluator.ts";
import { runEvaluator } from "./evaluators/run-evaluator.ts";
import { replaceEvaluator, updateEvaluator } from "./evaluators/update-evaluator.ts";
import { createEmbeddings } from "./embeddings/create-embeddings.ts";
import type { StoredResponses } from "../gateway/responses/stored-responses.ts";
import type { RefusalOf } from "../outgoing/refused-address.ts";
import { cancelResponse } from "./responses/cancel-response.ts";
import { countTokens } from "./messages/count-tokens.ts";
import { createMessage } from "./messages/create-message.ts";
import { createResponse } from "./responses/create-response.ts";
import { deleteResponse } from "./responses/delete-response.ts";
import { listInputItems } from "./responses/list-input-items.ts";
import { retrieveResponse } from "./responses/retrieve-response.ts";
import { createTranscription } from "./audio/create-transcription.ts";
import { createChatCompletion } from "./chat/create-chat-completion.ts";
import { ingestSpans } from "./ingest/ingest-spans.ts";
import { acceptInvitationRoute } from "./invitations/accept-invitation.ts";
import { retrieveInvitation } from "./invitations/retrieve-invitation.ts";
import { createMember } from "./members/create-member.ts";
import { deleteMember } from "./members/delete-member.ts";
import { listMembers } from "./members/list-members.ts";
import { updateMember } from "./members/update-member.ts";
import { listModels } from "./models/list-models.ts";
import { listPublicModels } from "./models/list-public-models.ts";
import { retrieveModel } from "./models/retrieve-model.ts";
import { ingestOtlpLogs } from "./otlp/ingest-otlp-logs.ts";
import { ingestOtlpMetrics } from "./otlp/ingest-otlp-metrics.ts";
import { ingestOtlpTraces } from "./otlp/ingest-otlp-traces.ts";
import { createOrganization } from "./organizations/create-organization.ts";
import { updateOrganization } from "./organizations/update-organization.ts";
import { createModelPrice } from "./model-prices/create-model-price.ts";
import { deleteModelPrice } from "./model-prices/delete-model-price.ts";
import { listModelPrices } from "./model-prices/list-model-prices.ts";
import { retrieveModelPrice } from "./model-prices/retrieve-model-price.ts";
import type { ModelPriceDeps } from "./model-prices/schemas.ts";
import { updateModelPrice } from "./model-prices/update-model-price.ts";
import { createProvider } from "./providers/create-provider.ts";
import { deleteProvider } from "./providers/delete-provider.ts";
import { listKnownProviders } from "./providers/list-known-providers.ts";
import { listProviders } from "./providers/list-providers.ts";
import { retrieveProvider } from "./providers/retrieve-provider.ts";
import { updateProvider } from "./providers/update-provider.ts";
import { getMedia } from "./media/get-media.ts";
import { getPublicMedia } from "./media/get-public-media.ts";
import { bulkCreateSpans } from "./request-logs/bulk-create-spans.ts";
import { createSpan } from "./request-logs/create-span.ts";
import { facetSpans } from "./request-logs/facet-spans.ts";
import { groupSpans } from "./request-logs/group-spans.ts";
import { seriesSpans } from "./request-logs/series-spans.ts";
import { bulkUpdateSpans } from "./request-logs/bulk-update-spans.ts";
import { exportSpans } from "./request-logs/export-spans.ts";
import { listSpans } from "./request-logs/list-spans.ts";
import type { SpanReadDeps } from "./request-logs/read-selection.ts";
import { repriceSpans } from "./request-logs/reprice-spans.ts";
import { retrieveSpan } from "./request-logs/retrieve-span.ts";
import { summarizeSpans } from "./request-logs/summarize-spans.ts";
import { tailSpans } from "./request-logs/tail-spans.ts";
import { serveMcp } from "./mcp/serve-mcp.ts";
import { updateSpan } from "./request-logs/update-span.ts";
import { createLangfuseScore } from "./langfuse/create-langfuse-score.ts";
import { ingestLangfuseEvents } from "./langfuse/ingest-langfuse-events.ts";
import { createSavedView } from "./saved-views/create-saved-view.ts";
import { deleteSavedView } from "./saved-views/delete-saved-view.ts";
import { listSavedViews } from "./saved-views/list-saved-views.ts";
import { updateSavedView } from "./saved-views/update-saved-view.ts";
import { createLogScore, createScore } from "./scores/create-score.ts";
import { deleteLogScore, deleteScore } from "./scores/delete-score.ts";
import { listLogScores, listScores } from "./scores/list-scores.ts";
import { retrieveLogScore, retrieveScore } from "./scores/retrieve-score.ts";
import { replaceLogScore, replaceScore, updateLogScore, updateScore } from "./scores/update-score.ts";
import { createTemporaryKey } from "./temporary-keys/create-temporary-key.ts";
import { listThreads } from "./threads/list-threads.ts";
import { deleteTrace } from "./traces/delete-trace.ts";
import { deleteTraces } from "./traces/delete-traces.ts";
import { exportTraces } from "./traces/export-traces.ts";
import { listTraces } from "./traces/list-traces.ts";
import { retrievePublicTrace } from "./traces/retrieve-public-trace.ts";
import { retrieveTrace } from "./traces/retrieve-trace.ts";
import { seriesTraces } from "./traces/series-traces.ts";
import { retrieveSharing } from "./traces/retrieve-sharing.ts";
import { shareTrace } from "./traces/share-trace.ts";
import { createWebhook } from "./webhooks/create-webhook.ts";
import { deleteWebhook } from "./webhooks/delete-webhook.ts";
import { listDeliveries } from "./webhooks/list-deliveries.ts";
import { listWebhooks } from "./webhooks/list-webhooks.ts";
import { redeliverEvent } from "./webhooks/redeliver-event.ts";
import { retrieveWebhook } from "./webhooks/retrieve-webhook.ts";
import { rotateWebhookSecret } from "./webhooks/rotate-webhook-secret.ts";
import { replaceWebhook, updateWebhook } from "./webhooks/update-webhook.ts";
import { createCustomer } from "./users/create-customer.ts";
import { exportUsage } from "./users/export-usage.ts";
import { deleteCustomer } from "./users/delete-customer.ts";
import { listCustomers } from "./users/list-customers.ts";
import { retrieveCustomer } from "./users/retrieve-customer.ts";
import { updateCustomer } from "./users/update-customer.ts";

export type ApiDeps = SpanReadDeps & {
  intake: SpanIntake;
  calls: CallRunner;
  chat: CallOperation;
  transcription: Transcription;
  embeddings: CallOperation;
  responses: CallOperation;
  storedResponses: StoredResponses;
  messages: CallOperation;
  tokenCounts: CallOperation;
  models: ModelLister;
  providerSettings: ProviderSettings;
  knownProviders: KnownProviders;
  logs: LogJoiner;
  spans: SpanStore;
  live: LiveTail;
  traceDeletions: TraceDeletions;
  customers: Customers;
  stores: ControlStores;
  authenticator: CachingAuthenticator;
  passwords: Passwords;
  signedIn: Sessions;
  browsers: BrowserSessions;
  audit: Audit;
  throttle: LoginThrottle;
  noteFailedLogin: NoteFailedLogin;
  spanEditor: SpanEditor;
  caughtUp: () => Promise<boolean>;
} & Evaluation &
  Omit<ModelPriceDeps, "modelPrices"> & { repricing: SpanRepricing } & WebhookParts;

type WebhookParts = {
  deliverer: Deliverer;
  webhookSecrets: WebhookSecrets;
  webhookDirectory: WebhookDirectory;
  attempt: Attempt;
  hasMail: boolean;
  publicUrl: string | undefined;
  refusalOf: RefusalOf;
};

/** All endpoints except the system routes: every operation, and the MCP server that offers some of them as tools. */
export function apiEndpoints(deps: ApiDeps): AnyEndpoint[] {
  const operations = operationsOf(deps);
  return [...operations, serveMcp({ endpoints: operations })];
}

function operationsOf(deps: ApiDeps): AnyEndpoint[] {
  const { stores } = deps;
  const people = { ...deps, organizations: stores.organizations };
  const spans = { ...deps, catalogue: withNewMessages(deps.catalogue) };
  const traces = { ...people, traceCatalogue: createTraceCatalogue(deps.catalogue) };
  return [
    createSpan(deps),
    bulkCreateSpans(deps),
    getMedia(deps),
    getPublicMedia({ spans: deps.spans, ...stores }),
    listSpans(spans),
    exportSpans(spans),
    summarizeSpans(spans),
    groupSpans(spans),
    facetSpans(spans),
    seriesSpans(spans),
    repriceSpans(spans),
    tailSpans(deps),
    bulkUpdateSpans(deps),
    retrieveSpan(deps),
    updateSpan(deps),
    ingestSpans(deps),
    createChatCompletion(deps),
    createTranscription(deps),
    createEmbeddings(deps),
    createMessage(deps),
    countTokens(deps),
    createResponse(deps),
    retrieveResponse(deps),
    deleteResponse(deps),
    cancelResponse(deps),
    listInputItems(deps),
    listModels(deps),
    listPublicModels(deps),
    retrieveModel(deps),
    createProvider(deps),
    listProviders(deps),
    listKnownProviders(deps),
    retrieveProvider(deps),
    updateProvider(deps),
    deleteProvider(deps),
    listTraces(traces),
    seriesTraces(traces),
    exportTraces(traces),
    retrieveTrace(traces),
    shareTrace({ ...traces, ...stores }),
    retrieveSharing(stores),
    retrievePublicTrace({ ...people, ...stores }),
    deleteTrace(traces),
    deleteTraces(traces),
    listThreads({ ...deps, threadCatalogue: createThreadCatalogue(deps.catalogue) }),
    listCustomers({ ...deps, customerCatalogue: createCustomerCatalogue(deps.catalogue) }),
    exportUsage(spans),
    createCustomer(people),
    retrieveCustomer(people),
    updateCustomer(people),
    deleteCustomer(people),
    ingestOtlpTraces(deps),
    ingestOtlpLogs(deps),
    ingestOtlpMetrics(),
    ...priceEndpoints({ ...deps, ...stores }),
    ...peopleEndpoints(deps),
    ...evaluationEndpoints(deps),
    ...webhookEndpoints(deps),
    ...alertEndpoints(deps),
    ...savedViewEndpoints(deps),
  ];
}

function priceEndpoints(deps: ModelPriceDeps): AnyEndpoint[] {
  return [
    createModelPrice(deps),
    listModelPrices(deps),
    retrieveModelPrice(deps),
    updateModelPrice(deps),
    deleteModelPrice(deps),
  ];
}

/** Organizations, people, keys and the audit log. */
function peopleEndpoints(deps: ApiDeps): AnyEndpoint[] {
  const control = { ...deps, ...deps.stores, nowMs: deps.now };
  return [
    login(control),
    refresh(control),
    logout(control),
    signInByCode(control),
    getMe(control),
    changePassword(control),
    listSessions(control),
    endSession(control),
    listApiKeys(control),
    createApiKey(control),
    updateApiKey(control),
    deleteApiKey(control),
    createTemporaryKey(control),
    createOrganization(control),
    updateOrganization({ ...control, settingsChanged: (id) => deps.providerSettings.evict(id) }),
    listMembers(control),
    createMember(control),
    updateMember(control),
    deleteMember(control),
    retrieveInvitation(control),
    acceptInvitationRoute(control),
    listAuditLog(control),
  ];
}

function webhookEndpoints(deps: ApiDeps): AnyEndpoint[] {
  const webhooks = { ...deps, ...deps.stores, nowMs: deps.now };
  return [
    listWebhooks(webhooks),
    createWebhook(webhooks),
    retrieveWebhook(webhooks),
    updateWebhook(webhooks),
    replaceWebhook(webhooks),
    deleteWebhook(webhooks),
    rotateWebhookSecret(webhooks),
    listDeliveries(webhooks),
    redeliverEvent(webhooks),
  ];
}

function alertEndpoints(deps: ApiDeps): AnyEndpoint[] {
  const alerts = { ...deps, evaluators: deps.stores.evaluators, nowMs: deps.now };
  return [
    listAlerts(alerts),
    createAlert(alerts),
    retrieveAlert(alerts),
    updateAlert(alerts),
    deleteAlert(alerts),
    listAlertHistory(alerts),
    testAlert(alerts),
  ];
}

function savedViewEndpoints(deps: ApiDeps): AnyEndpoint[] {
  const views = { stores: deps.stores, nowMs: deps.now };
  return [listSavedViews(views), createSavedView(views), updateSavedView(views), deleteSavedView(views)];
}

/** Conditions, automations, evaluators and their scores. */
function evaluationEndpoints(deps: ApiDeps): AnyEndpoint[] {
  const control = { ...deps, ...deps.stores, nowMs: deps.now };
  return [
    createCondition(control),
    listConditions(control),
    retrieveCondition(control),
    updateCondition(control),
    deleteCondition(control),
    createAutomation(control),
    listAutomations(control),
    retrieveAutomation(control),
    updateAutomation(control),
    deleteAutomation(control),
    createEvaluator(control),
    listEvaluators(control),
    retrieveEvaluator(control),
    updateEvaluator(control),
    replaceEvaluator(control),
    deleteEvaluator(control),
    createEvaluatorVersion(control),
    listEvaluatorVersions(control),
    retrieveEvaluatorVersion(control),
    runEvaluator(control),
    createScore(control),
    listScores(control),
    retrieveScore(control),
    updateScore(control),
    replaceScore(control),
    deleteScore(control),
    createLogScore(control),
    listLogScores(control),
    retrieveLogScore(control),
    updateLogScore(control),
    replaceLogScore(control),
    deleteLogScore(control),
    createLangfuseScore(control),
    ingestLangfuseEvents(control),
  ];
}
