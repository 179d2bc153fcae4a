import type { ActiveAutomation } from "../domain/automation.ts";
import { environments, type Environment } from "../domain/principal.ts";
import type { SpanRow } from "../domain/span.ts";
import type { Catalogue } from "../filter/catalogue.ts";
import type { AutomationStore } from "../storage/control/automation-store.ts";
import { evaluationLimits } from "./limits.ts";
import { compilePolicy } from "./read-policy.ts";

export type CompiledAutomation = ActiveAutomation & { matches: (row: SpanRow) => boolean };

/**
 * The enabled automations in memory, with compiled conditions, so that ingest does not query a database. Changes on
 * this node apply immediately, those of other nodes with the next refresh.
 */
export type ActiveAutomations = {
  of(organizationId: string, environment: Environment): readonly CompiledAutomation[];
  /** Of both environments. */
  ofOrganization(organizationId: string): CompiledAutomation[];
  /** Whether any automation of the organisation is enabled. */
  wants(organizationId: string): boolean;
  find(id: string): CompiledAutomation | undefined;
  refresh(): Promise<void>;
  /**
   * Calls `added` for each automation that was enabled after this node last loaded them, possibly on another node: logs
   * since then have passed without it.
   */
  watch(added: (automation: ActiveAutomation) => void): void;
};

export function createActiveAutomations(deps: {
  automations: Pick<AutomationStore, "listActive">;
  catalogue: Catalogue<SpanRow>;
  onUnreadable: (automationId: string, error: unknown) => void;
  now: () => number;
}): ActiveAutomations {
  let byScope = new Map<string, CompiledAutomation[]>();
  let organizations = new Set<string>();
  let byId: Map<string, CompiledAutomation> | undefined;
  let announce = (automation: ActiveAutomation): void => void early.push(automation);
  const early: ActiveAutomation[] = [];
  let last: Promise<void> = Promise.resolve();

  const load = async (): Promise<void> => {
    const active = await deps.automations.listActive();
    const compiled = active.flatMap((automation) => {
      try {
        return [{ ...automation, matches: compilePolicy(automation.condition_policy, deps.catalogue) }];
      } catch (error) {
        // A field that was removed in a later version must not stop all other automations.
        deps.onUnreadable(automation.id, error);
        return [];
      }
    });
    organizations = new Set(compiled.map((automation) => automation.unique_organization_id));
    const known = byId;
    byId = new Map(compiled.map((automation) => [automation.id, automation]));
    byScope = Map.groupBy(compiled, (each) => scopeOf(each.unique_organization_id, each.environment));
    const startIso = new Date(deps.now() - evaluationLimits.automationCatchUpMs).toISOString();
    const isNew = ({ id, updated_at }: ActiveAutomation) => (known ? !known.has(id) : updated_at > startIso);
    compiled.filter(isNew).forEach((automation) => announce(automation));
  };

  return {
    of: (organizationId, environment) => byScope.get(scopeOf(organizationId, environment)) ?? [],
    ofOrganization: (organizationId) =>
      environments.flatMap((each) => byScope.get(scopeOf(organizationId, each)) ?? []),
    find: (id) => byId?.get(id),
    wants: (organizationId) => organizations.has(organizationId),
    // One after another, so that the last read sees the last write.
    watch(added) {
      announce = added;
      early.splice(0).forEach(added);
    },
    refresh: () => (last = last.catch(() => undefined).then(load)),
  };
}

function scopeOf(organizationId: string, environment: string): string {
  return `${environment}\n${organizationId}`;
}
