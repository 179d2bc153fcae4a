import { at } from "../lib/at.ts";
import { bareModelName } from "./model-name.ts";
import { llmLogTypes } from "./span.ts";
import { hasTokens, type UsageFact } from "./usage-fact.ts";
import type { TraceForest } from "./trace-forest.ts";

/** Whether another span reports the same call and counts instead of this one. */
export type SameCall = { tokens: boolean; cost: boolean };

const modelCalls: ReadonlySet<string> = new Set(llmLogTypes);
export const isModelCall = ({ log_type }: Pick<UsageFact, "log_type">): boolean => modelCalls.has(log_type);

/**
 * Finds spans whose call another span reports too:
 * - a span that names an existing span of the gateway (`isGatewayCall`);
 * - spans with the same response id and model: the gateway's count, otherwise the deepest, fullest one;
 * - a span without content whose time is within that of a sibling of another instrumentation, with the same model and
 * usage.
 */
export function findSameCalls(
  facts: readonly UsageFact[],
  forest: TraceForest,
  isGatewayCall: (gatewayLogId: string) => boolean,
): Array<SameCall | undefined> {
  const same: Array<SameCall | undefined> = facts.map(({ gateway_log_id: id, unique_id }) =>
    id !== "" && id !== unique_id && isGatewayCall(id) ? { tokens: true, cost: true } : undefined,
  );
  const open = facts.flatMap((fact, index) =>
    same[index] === undefined && isModelCall(fact) && (hasTokens(fact) || fact.cost !== null) ? [index] : [],
  );
  const byAnswer = groupBy(open, (index) => answerOf(at(facts, index)));
  const depths = depthsOf(forest);
  const depthOf = (index: number) => at(depths, at(forest.nodeOf, index));
  for (const group of byAnswer) if (group.length > 1) markAnswer(group, facts, depthOf, same);
  const bySibling = groupBy(open, (index) => siblingKey(at(facts, index), at(forest.parentOf, index)));
  for (const group of bySibling) if (group.length > 1) markWithin(group, facts, same);
  return same;
}

function groupBy(indexes: readonly number[], keyOf: (index: number) => string | undefined): number[][] {
  const groups = new Map<string, number[]>();
  for (const index of indexes) {
    const key = keyOf(index);
    if (key === undefined) continue;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [index]);
    else group.push(index);
  }
  return [...groups.values()];
}

function answerOf({ response_id, model }: UsageFact): string | undefined {
  return response_id === "" ? undefined : `${response_id}\n${bareModelName(model)}`;
}

function markAnswer(
  group: readonly number[],
  facts: readonly UsageFact[],
  depthOf: (index: number) => number,
  same: Array<SameCall | undefined>,
): void {
  const ranked = [...group].sort((a, b) => {
    const [one, other] = [at(facts, a), at(facts, b)];
    return depthOf(b) - depthOf(a) || fullness(other) - fullness(one) || (one.unique_id < other.unique_id ? -1 : 1);
  });
  const tokens = representatives(ranked, facts, (fact) => hasTokens(fact));
  const cost = representatives(ranked, facts, (fact) => fact.cost !== null);
  for (const index of group) {
    const [isTokens, isCost] = [tokens.has(index), cost.has(index)];
    if (!isTokens || !isCost) same[index] = { tokens: !isTokens, cost: !isCost };
  }
}

/** Each span of the gateway is a call of its own; of other reports the first one counts. */
function representatives(
  ranked: readonly number[],
  facts: readonly UsageFact[],
  knows: (fact: UsageFact) => boolean,
): ReadonlySet<number> {
  const knowing = ranked.filter((index) => knows(at(facts, index)));
  const ofGateway = knowing.filter((index) => at(facts, index).is_gateway);
  const counted = ofGateway.length > 0 ? ofGateway : knowing.slice(0, 1);
  return new Set(counted.length > 0 ? counted : ranked.slice(0, 1));
}

function fullness(fact: UsageFact): number {
  return (fact.is_stated ? 4 : 0) + (fact.cost === null ? 0 : 2) + (fact.has_content ? 1 : 0);
}

function siblingKey(fact: UsageFact, parent: number): string | undefined {
  if (!hasTokens(fact)) return undefined;
  const { span_parent_id, model, prompt_tokens, completion_tokens, total_tokens } = fact;
  return [parent, span_parent_id, bareModelName(model), prompt_tokens, completion_tokens, total_tokens].join("\n");
}

/**
 * In one pass: an enclosing span begins earlier, or at the same time and ends later. Only the latest end so far is
 * kept, and the latest of an instrumentation other than that span's.
 */
function markWithin(group: readonly number[], facts: readonly UsageFact[], same: Array<SameCall | undefined>): void {
  let latest = { scope: "", end: "" };
  let ofOthers = "";
  for (const index of [...group].sort((a, b) => compareOuterFirst(at(facts, a), at(facts, b)))) {
    const { scope_name: scope, timestamp: end, has_content } = at(facts, index);
    const outerEnd = latest.scope === scope ? ofOthers : latest.end;
    if (!has_content && scope !== "" && same[index] === undefined && outerEnd >= end) {
      same[index] = { tokens: true, cost: true };
    }
    if (end > latest.end) {
      if (latest.scope !== scope) ofOthers = latest.end;
      latest = { scope, end };
    } else if (latest.scope !== scope && end > ofOthers) ofOthers = end;
  }
}

function compareOuterFirst(a: UsageFact, b: UsageFact): number {
  if (a.start_time !== b.start_time) return a.start_time < b.start_time ? -1 : 1;
  if (a.timestamp !== b.timestamp) return a.timestamp > b.timestamp ? -1 : 1;
  if (a.has_content !== b.has_content) return a.has_content ? -1 : 1;
  return a.unique_id < b.unique_id ? -1 : 1;
}

function depthsOf({ above, order }: TraceForest): number[] {
  const depths = above.map(() => 0);
  for (const node of order) {
    const parent = at(above, node);
    if (parent !== -1) depths[node] = at(depths, parent) + 1;
  }
  return depths;
}
