import type { Environment } from "../../domain/principal.ts";

/** An automation that uses a condition or an evaluator. */
export type AutomationUse = { name: string; environment: Environment };

/** Safe because automations are created with the environment of a key. */
export function toAutomationUse({ name, environment }: { name: string; environment: string }): AutomationUse {
  return { name, environment: environment as Environment };
}
