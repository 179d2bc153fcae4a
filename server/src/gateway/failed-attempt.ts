import type { PriceBook } from "../pricing/price-book.ts";
import { readable, type CallLedger } from "./call-ledger.ts";
import type { ChatDigest } from "./chat-digest.ts";
import type { Target, UpstreamProblem } from "./providers/provider.ts";
import { costOf } from "./usage-report.ts";

/**
 * Providers charge for an answer that came to nothing, where they counted it. That of the last attempt is the usage of the call, those of
 * attempts before it, which other models may have made, are sums of money alone.
 */

/** Takes over what an attempt of which the caller saw nothing is paid for. Gives its cost in USD, undefined where nobody told of any. */
export function takeFailed(
  ledger: CallLedger,
  problem: UpstreamProblem,
  prices: PriceBook,
  digest?: ChatDigest,
): number | undefined {
  // Whoever says that it failed has not charged for what it counted on the way; where it broke off, nobody took that back.
  const isCut = problem.isCut === true || problem.status === 0;
  ledger.usage = readable(problem.usage ?? digest?.usage() ?? (isCut ? digest?.usageSoFar() : undefined));
  return ledger.usage === undefined ? undefined : (costOfLast(ledger, prices) ?? undefined);
}

export function beginAttempt(ledger: CallLedger, { provider, model }: Target, prices: PriceBook): void {
  if (ledger.usage !== undefined) {
    ledger.failedUsd += costOfLast(ledger, prices) ?? 0;
    ledger.usage = undefined;
  }
  // What an earlier attempt said is not the answer.
  ledger.messages = [];
  ledger.responseId = undefined;
  ledger.attempts += 1;
  ledger.provider = provider;
  ledger.model = model;
}

function costOfLast(ledger: CallLedger, prices: PriceBook): number | null {
  const { origin, model, provider, usage, startedAtMs: atMs } = ledger;
  return costOf(prices, { organizationId: origin.organization_id, model, provider, usage, atMs });
}
