import type { Migration } from "kysely/migration";
import { createAccounts } from "./0001-create-accounts.ts";
import { createTraceRecords } from "./0002-create-trace-records.ts";
import { createCustomers } from "./0003-create-customers.ts";
import { createProviderSettings } from "./0004-create-provider-settings.ts";
import { createWebhooks } from "./0005-create-webhooks.ts";
import { createEvaluation } from "./0006-create-evaluation.ts";
import { rememberReachedBudgets } from "./0007-remember-reached-budgets.ts";
import { blockOrganizations } from "./0008-block-organizations.ts";
import { reserveJudgements } from "./0009-reserve-judgements.ts";
import { splitPermissions } from "./0013-split-permissions.ts";
import { createPeople } from "./0014-create-people.ts";
import { nameSignatures } from "./0015-name-signatures.ts";
import { createModelPrices } from "./0016-create-model-prices.ts";
import { countUnpricedCalls } from "./0017-count-unpriced-calls.ts";
import { countCrashes } from "./0018-count-crashes.ts";
import { rememberErasedCustomers } from "./0019-remember-erased-customers.ts";
import { createBrowserSessions } from "./0020-create-browser-sessions.ts";
import { createAlerts } from "./0021-create-alerts.ts";
import { createSavedViews } from "./0022-create-saved-views.ts";
import { measureAlertsTogether } from "./0023-measure-alerts-together.ts";
import { findScoresOfAutomations } from "./0024-find-scores-of-automations.ts";
import { nameTracesOfDeliveries } from "./0026-name-traces-of-deliveries.ts";
import { findCustomersWithBounds } from "./0027-find-customers-with-bounds.ts";
import { createLeases } from "./0028-create-leases.ts";
import { checkSecretKey } from "./0030-check-secret-key.ts";
import { sayWhoRuns } from "./0031-say-who-runs.ts";
import type { ControlDialect } from "./columns.ts";

/** Every migration in order. Never edit a released entry: add a new one at the end. */
export function controlMigrations(dialect: ControlDialect): Record<string, Migration> {
  return {
    "0001-create-accounts": createAccounts(dialect),
    "0002-create-trace-records": createTraceRecords(dialect),
    "0003-create-customers": createCustomers(),
    "0004-create-provider-settings": createProviderSettings(),
    "0005-create-webhooks": createWebhooks(dialect),
    "0006-create-evaluation": createEvaluation(dialect),
    "0007-remember-reached-budgets": rememberReachedBudgets(),
    "0008-block-organizations": blockOrganizations(),
    "0009-reserve-judgements": reserveJudgements(),
    "0013-split-permissions": splitPermissions(),
    "0014-create-people": createPeople(),
    "0015-name-signatures": nameSignatures(dialect),
    "0016-create-model-prices": createModelPrices(dialect),
    "0017-count-unpriced-calls": countUnpricedCalls(),
    "0018-count-crashes": countCrashes(),
    "0019-remember-erased-customers": rememberErasedCustomers(),
    "0020-create-browser-sessions": createBrowserSessions(),
    "0021-create-alerts": createAlerts(dialect),
    "0022-create-saved-views": createSavedViews(),
    "0023-measure-alerts-together": measureAlertsTogether(),
    "0024-find-scores-of-automations": findScoresOfAutomations(),
    "0026-name-traces-of-deliveries": nameTracesOfDeliveries(),
    "0027-find-customers-with-bounds": findCustomersWithBounds(),
    "0028-create-leases": createLeases(),
    "0030-check-secret-key": checkSecretKey(),
    "0031-say-who-runs": sayWhoRuns(),
  };
}
