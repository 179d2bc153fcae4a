import { requireOwnEnvironment, type Principal } from "../../domain/principal.ts";
import type { AutomationUse } from "../../storage/control/automation-use.ts";

/**
 * Conditions and evaluators belong to no environment, but take effect where automations use them.
 * @throws ServiceError `forbidden` if an automation of the other environment uses it
 */
export function refuseUseElsewhere(principal: Principal, uses: readonly AutomationUse[]): void {
  for (const { name, environment } of uses) {
    requireOwnEnvironment(principal, environment, `the automation ${JSON.stringify(name)}, which uses this,`);
  }
}
