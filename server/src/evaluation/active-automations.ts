import { hash } from "node:crypto";
import type { ActiveAutomation } from "../domain/automation.ts";
import { environments, type Environment } from "../domain/principal.ts";
import { judgeLogMethod, type SpanRow } from "../domain/span.ts";
import type { Catalogue } from "../filter/catalogue.ts";
import type { SpanSubscriber } from "../ingest/fan-out/fan-out.ts";
import type { QueueCapacity } from "../ingest/fan-out/queue-capacity.ts";
import { oneAtATime } from "../lib/one-at-a-time.ts";
import { storedTime } from "../lib/time.ts";
import type { AutomationStore } from "../storage/control/automation-store.ts";
import type { ControlStores } from "../storage/control/control-stores.ts";
import type { NewRun } from "../storage/control/evaluation-run-store.ts";
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
    watch(added) {
      announce = added;
      early.splice(0).forEach(added);
    },
    refresh: oneAtATime(load),
  };
}

function scopeOf(organizationId: string, environment: string): string {
  return `${environment}\n${organizationId}`;
}

/**
 * Consumes stored logs and records which of them automations evaluate. Logs arrive at least once and in several
 * versions. A run is identified by its automation, evaluator and log, so each is evaluated once: when a version of it
 * first matches. Logs of evaluators are ignored.
 */
export function createRunQueue(deps: {
  activeAutomations: ActiveAutomations;
  stores: Pick<ControlStores, "transaction">;
  room: Pick<QueueCapacity, "isFull" | "added">;
  /** Called with the number of new runs. */
  wake: (added: number) => void;
  now: () => number;
}): SpanSubscriber {
  const { activeAutomations, stores, room, wake, now } = deps;
  return {
    name: "evaluation",
    wants: (organizationId) => activeAutomations.wants(organizationId),
    isFull: (organizationId) => room.isFull(organizationId),
    started(readAgain) {
      activeAutomations.watch(({ unique_organization_id: organizationId, updated_at }) =>
        readAgain({ organizationId, from: timeOfMs(Date.parse(updated_at)), to: timeOfMs(now()) }),
      );
    },
    async consume(batch) {
      const wanted = batch.flatMap(({ rows }) => rows.flatMap((row) => runsOf(row, activeAutomations)));
      if (wanted.length === 0) return;
      try {
        const at = new Date(now()).toISOString();
        const added = await stores.transaction(({ evaluationRuns }) => evaluationRuns.enqueue(wanted, at));
        for (const [organizationId, runs] of added) room.added(organizationId, runs);
        const all = added.values().reduce((sum, runs) => sum + runs, 0);
        if (all > 0) wake(all);
      } catch (error) {
        // An automation may be deleted on another node: the retried batch is matched with the remaining ones.
        await activeAutomations.refresh();
        throw error;
      }
    },
  };
}

const timeOfMs = (ms: number): string => storedTime(BigInt(ms) * 1_000_000n);

function runsOf(row: SpanRow, activeAutomations: ActiveAutomations): NewRun[] {
  if (row.log_method === judgeLogMethod) return [];
  return activeAutomations
    .of(row.organization_id, row.environment)
    .filter(
      ({ id, configuration, matches }) => isSampled(row.unique_id, id, configuration.sampling_rate) && matches(row),
    )
    .flatMap(({ id, evaluator_ids }) =>
      evaluator_ids.map((evaluator_id) => ({
        automation_id: id,
        evaluator_id,
        log_id: row.unique_id,
        unique_organization_id: row.organization_id,
        environment: row.environment,
        log_timestamp: row.timestamp,
      })),
    );
}

const sampleSpace = 2 ** 48;

/**
 * Depends only on the ids, so that the result is the same on every node, for every version of a log, and after a crash.
 */
export function isSampled(logId: string, automationId: string, rate: number): boolean {
  if (rate >= 1) return true;
  if (rate <= 0) return false;
  const digest = hash("sha256", `${automationId}\n${logId}`, "hex");
  return Number.parseInt(digest.slice(0, 12), 16) / sampleSpace < rate;
}
