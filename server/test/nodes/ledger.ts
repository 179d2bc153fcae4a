import type { Row } from "../support/test-client.ts";

/** How a span was sent, so that it can be sent again to any node, byte by byte. */
export type Sending = { path: string; body: string; headers: Record<string, string> };

/** A span that a client of the chaos sent. */
export type SentSpan = {
  /** Its custom identifier; of OTLP, its name. */
  id: string;
  trace: string | undefined;
  cost: number;
  isJudged: boolean;
  /** Its start, which is acknowledged before its end is sent. */
  before?: Sending;
  sending: Sending;
  acknowledgedAtMs?: number;
};

/**
 * What clients know: which spans and calls were acknowledged, and which traces deleted. The system is judged by it.
 */
export type Ledger = {
  /** By id. */
  spans: Map<string, SentSpan>;
  /** Traces whose deletion was acknowledged. */
  deletedTraces: Set<string>;
  /** Traces that a client asked to delete and was not answered as expected: they may be there or not. */
  unclearTraces: Set<string>;
  /** Log ids of calls that were answered, with what they cost by customer. */
  calls: Map<string, { customer: string; cost: number }>;
  budgets: Map<string, number>;
  /** Answers by kind of request and status, and what came in place of an answer. */
  answers: Map<string, number>;
  /** Answers that no outage excuses. */
  refusals: Row[];
};

export function newLedger(): Ledger {
  return {
    spans: new Map(),
    deletedTraces: new Set(),
    unclearTraces: new Set(),
    calls: new Map(),
    budgets: new Map(),
    answers: new Map(),
    refusals: [],
  };
}
