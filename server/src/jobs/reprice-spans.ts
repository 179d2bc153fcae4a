import { ServiceError } from "../domain/errors.ts";
import type { Environment } from "../domain/principal.ts";
import type { SpanCounter } from "../counting/span-counter.ts";
import type { SpendCorrections } from "../customers/spend-corrections.ts";
import { withLease } from "./with-lease.ts";
import { jobsLimits } from "./limits.ts";
import type { LeaseStore } from "../storage/control/lease-store.ts";
import type { PriceBook } from "../pricing/price-book.ts";
import { pricedColumns, repriceSpan } from "../pricing/reprice.ts";
import type { SpanPlace } from "../storage/spans/span-list.ts";
import type { RepricedSpan } from "../storage/spans/span-editing.ts";
import type { SpanSelection, SpanStore, StoredSpan } from "../storage/spans/span-store.ts";
import type { CountedName } from "../storage/spans/usage-facts.ts";

/**
 * Prices stored spans again. Each span is priced from its own stored data, so an aborted run can simply be repeated:
 * spans that already have today's price do not change.
 */
export type SpanRepricing = {
  /** The changes to make, newest first; at most `jobsLimits.repricedSpans` spans. */
  plan(selection: OwnSelection, signal: AbortSignal): Promise<RepricingPlan>;
  /**
   * Plans the changes and makes them. Once it resolves, all reads, sums and budgets show the new prices.
   * @throws ServiceError `conflict` while spans of the organization are repriced: two runs would correct budgets twice
   */
  reprice(selection: OwnSelection, signal: AbortSignal): Promise<RepricingPlan>;
};

/** A selection within one environment. */
export type OwnSelection = SpanSelection & { scope: { organization_id: string; environment: Environment } };

export type RepricingPlan = {
  changes: PlannedChange[];
  /** Number of spans read, and of those without a price today. The latter keep their cost. */
  examined: number;
  unpriced: number;
  /** Stored time of the last span read, if there are more: continue from there. */
  stoppedAt: string | undefined;
};

export type PlannedChange = RepricedSpan & { before: StoredSpan };

export type RepricingDeps = {
  spans: Pick<SpanStore, "listSpans" | "repriceSpans">;
  prices: PriceBook;
  counter: Pick<SpanCounter, "recount">;
  corrections: SpendCorrections;
  leases: LeaseStore;
  /** Milliseconds since the epoch. */
  now: () => number;
};

const fields = [...pricedColumns, "trace_unique_id", "counted_customer_identifier"] as const;

export function createRepricing(deps: RepricingDeps): SpanRepricing {
  const { leases, now } = deps;
  return {
    plan: (selection, signal) => plan(deps, selection, signal),
    async reprice(selection, signal) {
      const name = `repricing ${selection.scope.organization_id}`;
      const run = await withLease({ leases, now, name }, signal, async (lease) => {
        const planned = await plan(deps, selection, lease);
        if (planned.changes.length > 0) await apply(deps, selection, planned, lease);
        return planned;
      });
      if (run === undefined) {
        const message = "Another request is repricing logs of this organization. Try again when it has ended.";
        throw new ServiceError("conflict", message, { retryAfterS: jobsLimits.repricingRetryS });
      }
      return run.result;
    },
  };
}

async function plan(
  { spans, prices, now }: RepricingDeps,
  selection: OwnSelection,
  signal: AbortSignal,
): Promise<RepricingPlan> {
  const of = { organizationId: selection.scope.organization_id, at: new Date(now()).toISOString() };
  const made: RepricingPlan = { changes: [], examined: 0, unpriced: 0, stoppedAt: undefined };
  let after: SpanPlace | undefined;
  do {
    const { rows, next } = await spans.listSpans(
      { ...selection, page: 1, pageSize: jobsLimits.repricedPage, sort: newestFirst, fields, after },
      signal,
    );
    for (const span of rows) {
      const found = repriceSpan(prices, span, of);
      made.examined += 1;
      if (found.kind === "unpriced") made.unpriced += 1;
      if (found.kind === "changed") made.changes.push({ ...keyOf(span), ...found.price, before: slim(span) });
    }
    after = next;
    if (isFull(made)) made.stoppedAt = next?.timestamp;
  } while (after !== undefined && !isFull(made));
  return made;
}

async function apply(
  { spans, counter, corrections }: RepricingDeps,
  { scope }: OwnSelection,
  { changes }: RepricingPlan,
  signal: AbortSignal,
): Promise<void> {
  const named = changes.map(({ before }) => before.counted_customer_identifier ?? "");
  const identifiers = [...new Set(named)].filter((name) => name !== "");
  const before = await corrections.note(scope, identifiers);
  try {
    for (let from = 0; from < changes.length; from += jobsLimits.repricedPage) {
      signal.throwIfAborted();
      const part = changes.slice(from, from + jobsLimits.repricedPage);
      await spans.repriceSpans(scope, part, signal);
      await counter.recount(scope.organization_id, namesOf(part));
    }
  } finally {
    // Spans written so far count even if the rest failed.
    await corrections.correct(before);
  }
}

const newestFirst = { field: "timestamp", descending: true } as const;

function isFull({ changes, examined }: RepricingPlan): boolean {
  return changes.length + jobsLimits.repricedPage > jobsLimits.repricedSpans || examined >= jobsLimits.repricedExamined;
}

function keyOf({ timestamp, unique_id, environment, version }: StoredSpan) {
  return { timestamp, unique_id, environment, version };
}

/** Drops columns that the store has anyway: the plan holds thousands of spans. */
function slim({ extra: _extra, cost_details: _receipt, ...span }: StoredSpan): StoredSpan {
  return span;
}

function namesOf(changes: readonly PlannedChange[]): CountedName[] {
  const names = new Map<string, CountedName>();
  for (const { environment, unique_id, before } of changes) {
    const trace_unique_id = before.trace_unique_id ?? "";
    const name = { environment, trace_unique_id, unique_id: trace_unique_id === "" ? unique_id : "" };
    names.set(`${trace_unique_id}\n${name.unique_id}`, name);
  }
  return [...names.values()];
}
