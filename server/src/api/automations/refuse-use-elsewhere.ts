import { requireOwnEnvironment, type Principal } from "../../domain/principal.ts";
import type { AutomationUse } from "../../storage/control/automation-use.ts";

/**
 * Conditions and evaluators lie in no environment, but act where automations use them.
 * @throws ServiceError `forbidden` where an automation of the other environment does
 */
export function refuseUseElsewhere(principal: Principal, uses: readonly AutomationUse[]): void {
  for (const { name, environment } of uses) {
    requireOwnEnvironment(principal, environment, `the automation ${JSON.stringify(name)}, which uses this,`);
  }
}
