import { at } from "../lib/at.ts";
import { findSameCalls, isModelCall, type SameCall } from "./same-call.ts";
import { compareSpans } from "./span-tree.ts";
import { growForest, type TraceForest } from "./trace-forest.ts";
import { hasTokens, ownCount, type UsageCount, type UsageFact } from "./usage-fact.ts";

/** Facts from other traces about the spans of one. */
export type OutsideFacts = {
  /** Whether there is a span of the gateway with this `unique_id`. */
  isGatewayCall(gatewayLogId: string): boolean;
  /** The identifiers of the span that names this one as its gateway call. */
  reporter(uniqueId: string): Pick<UsageCount, "customer_identifier" | "thread_identifier"> | undefined;
};

/**
 * Computes which usage of a trace counts, span by span, from all its spans in any order. One call counts once.
 *
 * Tokens and cost roll up separately. In a branch the deepest span that states tokens counts, but only a model call
 * restates a model call. For cost, the deepest price counts: that of a tool in addition to that of the call above it,
 * and a stated cost above only for what no span below it prices. A cost computed from tokens counts with them.
 */
export function countUsage(facts: readonly UsageFact[], outside: OutsideFacts): UsageCount[] {
  // Sums are added in a fixed order, independent of the order of arrival.
  const byTime = facts.map((_, index) => index).sort((a, b) => compareSpans(at(facts, a), at(facts, b)));
  const counts = countInOrder(
    byTime.map((index) => at(facts, index)),
    outside,
  );
  const counted = new Map(byTime.map((index, place) => [index, at(counts, place)]));
  return facts.map((fact, index) => counted.get(index) ?? ownCount(fact));
}

function countInOrder(facts: readonly UsageFact[], outside: OutsideFacts): UsageCount[] {
  if (facts.length === 0) return [];
  const forest = growForest(facts);
  const members = membersOf(forest);
  const ids = new Set(facts.flatMap(({ unique_id, is_gateway }) => (is_gateway ? [unique_id] : [])));
  const same = findSameCalls(facts, forest, (id) => ids.has(id) || outside.isGatewayCall(id));
  const countsTokens = countTokens(facts, forest, members, same);
  const costs = countCosts(facts, forest, { members, same, countsTokens });
  const customers = ownersOf(facts, { forest, members, outside }, "customer_identifier");
  const threads = ownersOf(facts, { forest, members, outside }, "thread_identifier");
  return facts.map((_, index) => ({
    counts_tokens: at(countsTokens, index),
    cost: costs[index] ?? null,
    customer_identifier: at(customers, index),
    thread_identifier: at(threads, index),
  }));
}

/** The spans of each node. */
function membersOf({ nodeOf, above }: TraceForest): number[][] {
  const members = above.map((): number[] => []);
  for (const [index, node] of nodeOf.entries()) at(members, node).push(index);
  return members;
}

/** Whether the tokens of each span count. */
function countTokens(
  facts: readonly UsageFact[],
  { above, order }: TraceForest,
  members: readonly number[][],
  same: ReadonlyArray<SameCall | undefined>,
): boolean[] {
  const below = above.map(() => ({ any: false, call: false }));
  const counts = facts.map(() => true);
  for (const node of order.toReversed()) {
    const found = at(below, node);
    const here = { ...found };
    for (const index of at(members, node)) {
      const fact = at(facts, index);
      const isCall = isModelCall(fact);
      if (!hasTokens(fact) && same[index]?.tokens !== true) continue;
      if (same[index]?.tokens === true || (isCall ? found.call : found.any)) counts[index] = false;
      here.any = true;
      here.call ||= isCall;
    }
    const parent = above[node] ?? -1;
    if (parent === -1) continue;
    at(below, parent).any ||= here.any;
    at(below, parent).call ||= here.call;
  }
  return counts.map((isCounted, index) => isCounted || !hasTokens(at(facts, index)));
}

/** The cost of everything below a node. */
type Below = {
  /** The sum of the counted cost of calls, and of spans that cover calls. */
  calls: number;
  /** The sum of what counts for everything else, such as tools. */
  others: number;
  /** Whether a span below is a model call, or restates one, and its cost is known. */
  hasPriced: boolean;
  hasModelCall: boolean;
  /** Calls of unknown cost that no other span covers. */
  unpriced: number[];
};

type CostParts = {
  members: readonly number[][];
  same: ReadonlyArray<SameCall | undefined>;
  countsTokens: readonly boolean[];
};

function countCosts(
  facts: readonly UsageFact[],
  { above, order }: TraceForest,
  { members, same, countsTokens }: CostParts,
): Array<number | null> {
  const counted: Array<number | null> = facts.map(({ cost }) => cost);
  const belowNode = above.map((): Below => ({
    calls: 0,
    others: 0,
    hasPriced: false,
    hasModelCall: false,
    unpriced: [],
  }));
  for (const node of order.toReversed()) {
    const below = at(belowNode, node);
    const own = at(members, node).map((index) => {
      const fact = at(facts, index);
      const placed = same[index]?.cost === true ? ofOtherReport(fact) : placeCost(fact, below, at(countsTokens, index));
      counted[index] = placed.cost;
      return { index, ...placed };
    });
    if (own.some(({ covers }) => covers)) {
      for (const covered of below.unpriced) counted[covered] = 0;
      below.unpriced = [];
    }
    for (const { index, cost, kind } of own) {
      below[kind === "other" ? "others" : "calls"] += cost ?? 0;
      below.hasPriced ||= kind === "call";
      below.hasModelCall ||= kind !== "other" && isModelCall(at(facts, index));
      if (kind === "unpriced") below.unpriced.push(index);
    }
    const parent = at(above, node);
    if (parent !== -1) addBelow(at(belowNode, parent), below);
  }
  return counted;
}

function addBelow(sum: Below, part: Below): void {
  sum.calls += part.calls;
  sum.others += part.others;
  sum.hasPriced ||= part.hasPriced;
  sum.hasModelCall ||= part.hasModelCall;
  const [more, fewer] = sum.unpriced.length < part.unpriced.length ? [part, sum] : [sum, part];
  for (const index of fewer.unpriced) more.unpriced.push(index);
  sum.unpriced = more.unpriced;
}

type Placed = {
  cost: number | null;
  /** How spans above see it: a call with a price, one without, or neither. */
  kind: "call" | "unpriced" | "other";
  /** Whether its cost covers the unpriced calls below. */
  covers: boolean;
};

/** The cost of its call counts at the other report of the call. */
function ofOtherReport(fact: UsageFact): Placed {
  return { cost: 0, kind: isModelCall(fact) ? "call" : "other", covers: false };
}

/** Kinds of spans whose cost is that of the work within them, even if no span shows that work. */
const wrapperTypes: ReadonlySet<string> = new Set(["workflow", "agent", "task", "chain", "handoff"]);

function placeCost(fact: UsageFact, below: Below, countsTokens: boolean): Placed {
  const { cost, is_stated, log_type } = fact;
  const isCall = isModelCall(fact);
  const isStatement = is_stated && cost !== null && (isCall || cost > 0);
  if (!isStatement) return placeComputed(fact, below, countsTokens);
  const covers = true;
  const hasUnpriced = below.unpriced.length > 0;
  if (isCall) {
    if (isIdle(fact)) return { cost, kind: "other", covers: false };
    if (!below.hasModelCall) return { cost, kind: "call", covers };
    return { cost: hasUnpriced ? rest(cost, below.calls) : 0, kind: "call", covers };
  }
  const isWrapper = below.hasPriced || hasUnpriced || hasTokens(fact) || wrapperTypes.has(log_type);
  if (!isWrapper) return { cost: rest(cost, below.others), kind: "other", covers: false };
  const isPriced = below.hasPriced && !hasUnpriced;
  return { cost: isPriced ? 0 : rest(cost, below.calls + below.others), kind: "call", covers };
}

/** A cost computed from tokens counts with them; the same for an unknown cost. */
function placeComputed(fact: UsageFact, below: Below, countsTokens: boolean): Placed {
  const { cost } = fact;
  const isCall = isModelCall(fact);
  const isUsed = (isCall && !isIdle(fact)) || hasTokens(fact);
  if (cost !== null) return { cost: countsTokens ? cost : 0, kind: isUsed ? "call" : "other", covers: false };
  const isRestated = hasTokens(fact) ? !countsTokens : below.hasModelCall;
  if (isRestated) return { cost: isCall ? 0 : null, kind: "other", covers: false };
  return { cost: null, kind: isUsed ? "unpriced" : "other", covers: false };
}

/** A call that failed before it used anything. */
function isIdle(fact: UsageFact): boolean {
  return fact.is_failed && !hasTokens(fact) && !((fact.cost ?? 0) > 0);
}

/** The part of a stated cost that nothing below it has priced; rounded to hide the error of adding doubles. */
function rest(stated: number, priced: number): number {
  return priced === 0 ? stated : Math.max(0, Math.round((stated - priced) * 1e12) / 1e12);
}

type IdentityField = "customer_identifier" | "thread_identifier";

type Owners = { forest: TraceForest; members: readonly number[][]; outside: OutsideFacts };

/**
 * The customer or thread of each span: its own, the nearest above it, that of a reporter elsewhere, then that of the
 * trace.
 */
function ownersOf(facts: readonly UsageFact[], { forest, members, outside }: Owners, field: IdentityField): string[] {
  const { order, above, speakers } = forest;
  const valueOf = (index: number): string => at(facts, index)[field];
  const inherited = above.map(() => "");
  const owners = facts.map(() => "");
  for (const node of order) {
    const parent = at(above, node);
    const fromAbove = parent === -1 ? "" : at(inherited, parent);
    for (const index of at(members, node)) owners[index] = valueOf(index) || fromAbove;
    // A node with several spans is a cycle: what is below one of them is below them all.
    inherited[node] =
      at(members, node)
        .map(valueOf)
        .find((name) => name !== "") ?? fromAbove;
  }
  const reporters = reportersIn(facts);
  const ofTrace = valueOf(speakers.find((index) => valueOf(index) !== "") ?? 0);
  return owners.map((owner, index) => {
    const { unique_id } = at(facts, index);
    const reporter = reporters.get(unique_id);
    return (
      owner || (reporter === undefined ? "" : at(owners, reporter)) || outside.reporter(unique_id)?.[field] || ofTrace
    );
  });
}

/** Spans by the gateway span that they name. */
function reportersIn(facts: readonly UsageFact[]): Map<string, number> {
  const reporters = new Map<string, number>();
  for (const [index, { gateway_log_id: id, unique_id }] of facts.entries()) {
    if (id !== "" && id !== unique_id && !reporters.has(id)) reporters.set(id, index);
  }
  return reporters;
}

/**
 * Whether every span of a trace obviously counts for its own values, as in most traces: no span with usage has
 * children, no two spans may report the same call, and either all spans name a customer (and a thread) or none does.
 */
export function isPlain(facts: readonly UsageFact[]): boolean {
  const parents = new Set<string>();
  const answers = new Set<string>();
  const [first] = facts;
  const [hasCustomer, hasThread] = [first?.customer_identifier !== "", first?.thread_identifier !== ""];
  for (const fact of facts) {
    if (fact.gateway_log_id !== "" || (fact.customer_identifier !== "") !== hasCustomer) return false;
    if ((fact.thread_identifier !== "") !== hasThread || isBareReport(fact)) return false;
    if (fact.response_id !== "") {
      if (answers.has(fact.response_id)) return false;
      answers.add(fact.response_id);
    }
    if (fact.span_parent_id !== "") parents.add(fact.span_parent_id);
  }
  return !facts.some((fact) => parents.has(fact.span_unique_id) && isUsed(fact));
}

/** A span that may repeat one of another instrumentation that has content. */
const isBareReport = (fact: UsageFact): boolean => !fact.has_content && fact.scope_name !== "" && hasTokens(fact);

const isUsed = (fact: UsageFact): boolean => fact.cost !== null || hasTokens(fact) || isModelCall(fact);
