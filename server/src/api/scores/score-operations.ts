import { randomUUID } from "node:crypto";
import { ServiceError } from "../../domain/errors.ts";
import type { Evaluator } from "../../domain/evaluator.ts";
import { requireOwnEnvironment, type KeyPrincipal } from "../../domain/principal.ts";
import { noValue, type Score, type ScoreValue } from "../../domain/score.ts";
import type { ScoreReplicator } from "../../evaluation/score-replicator.ts";
import { definedFields } from "../../lib/defined-fields.ts";
import { pick } from "../../lib/pick.ts";
import type { ControlStores } from "../../storage/control/control-stores.ts";
import type { SpanStore } from "../../storage/spans/span-store.ts";
import { readSentScore, scoreNotFound, type SentScore } from "./score-schemas.ts";

/** The operations of score routes, whether they name the log or not. */
export type ScoreDeps = {
  stores: ControlStores;
  spans: Pick<SpanStore, "findSpan">;
  scoreReplicator: Pick<ScoreReplicator, "wake">;
  /** Resolves once previously accepted spans are stored, or after a timeout. */
  caughtUp: () => Promise<unknown>;
  nowMs: () => number;
};

/** Undefined if the log already has a score of this evaluator. */
export async function createScoreOfLog(
  deps: ScoreDeps,
  principal: KeyPrincipal,
  logId: string,
  sent: SentScore & { evaluator_id?: string | undefined; evaluator_slug?: string | undefined },
): Promise<Score | undefined> {
  const { stores, scoreReplicator, nowMs } = deps;
  const organization = principal.organization_id;
  const evaluator = await requireEvaluator(deps, organization, sent);
  const parts = readSentScore(evaluator, sent);
  const log = await requireLog(deps, organization, logId);
  const environment = log.environment === "test" ? "test" : "prod";
  requireOwnEnvironment(principal, environment, "this log");
  const now = new Date(nowMs()).toISOString();
  const score: Score = {
    ...parts,
    id: randomUUID(),
    unique_organization_id: organization,
    environment,
    log_id: logId.toLowerCase(),
    evaluator_id: evaluator.id,
    evaluator_slug: evaluator.evaluator_slug,
    evaluator_name: evaluator.name,
    type: evaluator.type,
    score_value_type: evaluator.score_value_type,
    cost: null,
    automation_id: null,
    created_at: now,
    updated_at: now,
  };
  const [added] = await stores.scores.add([score], nowMs());
  if (added === undefined) return undefined;
  scoreReplicator.wake();
  return added;
}

/** `logId`: if the route names the log too. */
export async function findScore(
  { stores }: Pick<ScoreDeps, "stores">,
  organization: string,
  { scoreId, logId }: { scoreId: string; logId: string | undefined },
): Promise<Score> {
  const score = await stores.scores.find(organization, scoreId);
  if (score === undefined || (logId !== undefined && score.log_id !== logId.toLowerCase())) throw scoreNotFound();
  return score;
}

/** `keeps`: absent members are unchanged (PATCH); otherwise they take their defaults (PUT). */
export async function changeScore(
  { stores, scoreReplicator, nowMs }: ScoreDeps,
  principal: KeyPrincipal,
  ids: { scoreId: string; logId: string | undefined },
  { sent, keeps }: { sent: SentScore; keeps: boolean },
): Promise<Score> {
  const changed = await stores.transaction(async (set) => {
    await set.organizations.lock(principal.organization_id);
    const found = await findScore({ stores: { ...stores, ...set } }, principal.organization_id, ids);
    requireOwnEnvironment(principal, found.environment, "this score");
    const evaluator =
      (await set.evaluators.find(principal.organization_id, found.evaluator_id)) ?? storedEvaluator(found);
    const parts = readSentScore(evaluator, keeps ? merge(found, sent) : sent);
    return set.scores.replace({ ...found, ...parts, updated_at: new Date(nowMs()).toISOString() }, nowMs());
  });
  if (changed === undefined) throw scoreNotFound();
  scoreReplicator.wake();
  return changed;
}

export async function removeScore(
  { stores, scoreReplicator, nowMs }: ScoreDeps,
  principal: KeyPrincipal,
  ids: { scoreId: string; logId: string | undefined },
): Promise<void> {
  const { id, environment } = await findScore({ stores }, principal.organization_id, ids);
  requireOwnEnvironment(principal, environment, "this score");
  if (!(await stores.scores.remove(principal.organization_id, id, nowMs()))) throw scoreNotFound();
  scoreReplicator.wake();
}

/** Unless it is sent, `is_passed` follows from the value. */
function merge(found: Score, sent: SentScore): SentScore {
  const given = definedFields(sent);
  const hasValue = Object.keys(given).some((name) => name.endsWith("_value"));
  return {
    ...pick(found, ...valueMembers, "explanation", "scorer"),
    is_passed: hasValue ? null : found.is_passed,
    ...given,
  };
}

const valueMembers = Object.keys(noValue) as (keyof ScoreValue)[];

async function requireEvaluator(
  { stores }: ScoreDeps,
  organization: string,
  { evaluator_id, evaluator_slug }: { evaluator_id?: string | undefined; evaluator_slug?: string | undefined },
): Promise<Evaluator> {
  const idOrSlug = evaluator_id ?? evaluator_slug ?? "";
  const evaluator = idOrSlug === "" ? undefined : await stores.evaluators.find(organization, idOrSlug);
  if (evaluator !== undefined) return evaluator;
  const field = evaluator_id === undefined && idOrSlug !== "" ? "evaluator_slug" : "evaluator_id";
  const message = idOrSlug === "" ? "evaluator_id is required" : "there is no such evaluator";
  throw new ServiceError("invalid_request", message, { errors: { [field]: [message] } });
}

/** @throws ServiceError `not_found` */
export async function requireLog(
  { spans, caughtUp }: Pick<ScoreDeps, "spans" | "caughtUp">,
  organization: string,
  logId: string,
): Promise<{ environment: string }> {
  const scope = { organization_id: organization };
  let log = await spans.findSpan(scope, logId);
  if (log === undefined) {
    // It may have been accepted after the last insert.
    await caughtUp();
    log = await spans.findSpan(scope, logId);
  }
  if (log === undefined) throw new ServiceError("not_found", "There is no log with this id.");
  return log;
}

/** For scores whose evaluator was deleted. */
function storedEvaluator(score: Score): Pick<Evaluator, "score_value_type" | "score_config" | "passing_conditions"> {
  const choices = (score.categorical_value ?? []).map((name) => ({ name }));
  return { score_value_type: score.score_value_type, score_config: { choices }, passing_conditions: null };
}
