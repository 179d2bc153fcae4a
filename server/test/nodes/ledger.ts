import type { Row } from "../support/test-client.ts";

/** How a span was sent, so that it can be resent to any node, byte by byte. */
export type Sending = { path: string; body: string; headers: Record<string, string> };

/** A span that a test client sent. */
export type SentSpan = {
  /** Its custom identifier; for OTLP, its name. */
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
 * The records of the clients: which spans and calls were acknowledged, and which traces deleted. The audit compares the system with them.
 */
export type Ledger = {
  /** By id. */
  spans: Map<string, SentSpan>;
  /** Traces whose deletion was acknowledged. */
  deletedTraces: Set<string>;
  /** Traces whose deletion got no clear response: they may exist or not. */
  unclearTraces: Set<string>;
  /** Log ids of calls with a response, with their cost by customer. */
  calls: Map<string, { customer: string; cost: number }>;
  budgets: Map<string, number>;
  /** Responses by kind of request and status, and errors without a response. */
  answers: Map<string, number>;
  /** Responses that no outage explains. */
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
