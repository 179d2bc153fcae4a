import { listSpans, summarize } from "../support/spans.ts";
import type { ListAnswer, Row, TestClient } from "../support/test-client.ts";
import type { Ledger, SentSpan } from "./ledger.ts";
import type { System } from "./system.ts";
import { callCost, writersCustomer } from "./traffic.ts";

/** Compares the stored data with the records of the clients. Every list is empty if nothing is wrong. */
export type Audit = {
  /** Acknowledged, not deleted, and missing. */
  lost: string[];
  /** Stored more than once. */
  duplicated: string[];
  /** Spans of traces whose deletion was acknowledged. */
  undeleted: string[];
  lostCalls: string[];
  duplicatedCalls: string[];
  /** Stored sums that differ from the sum of the spans. */
  wrongSums: Array<[name: string, sum: number, ofSpans: number]>;
  overspent: string[];
  /** Spans to be judged whose number of scores is not 1. */
  misjudged: Array<[string, number]>;
  /** Spans that no webhook received. */
  unreceived: string[];
  /** Webhook messages with the same id and different bodies. */
  ambiguousMessages: string[];
  figures: Record<string, number>;
};

export async function audit(system: System, ledger: Ledger): Promise<Audit> {
  const { client } = system.nodes[0]!;
  const rows = await everySpan(client);
  const byId = Map.groupBy(rows, (row) => String(row["custom_identifier"] ?? row["span_name"]));
  const byUniqueId = Map.groupBy(rows, (row) => String(row["unique_id"]));
  const countOf = ({ id }: SentSpan) => byId.get(id)?.length ?? 0;
  const ids = (spans: SentSpan[]) => spans.map(({ id }) => id);

  const spans = [...ledger.spans.values()];
  const isDeleted = ({ trace }: SentSpan) => trace !== undefined && ledger.deletedTraces.has(trace);
  const isUnclear = ({ trace }: SentSpan) => trace !== undefined && ledger.unclearTraces.has(trace);
  const acknowledged = spans.filter(({ acknowledgedAtMs }) => acknowledgedAtMs !== undefined);
  const standing = acknowledged.filter((span) => !isDeleted(span) && !isUnclear(span));
  const calls = [...ledger.calls.keys()];
  const own = rows.filter((row) => row["customer_identifier"] === writersCustomer);
  const { messages, received } = receivedBy(system);
  const uniqueIdsOf = ({ id }: SentSpan) => (byId.get(id) ?? []).map((row) => String(row["unique_id"]));

  return {
    lost: ids(standing.filter((span) => countOf(span) === 0)),
    duplicated: ids(spans.filter((span) => countOf(span) > 1)),
    undeleted: ids(spans.filter((span) => isDeleted(span) && countOf(span) > 0)),
    lostCalls: calls.filter((id) => !byUniqueId.has(id)),
    duplicatedCalls: calls.filter((id) => (byUniqueId.get(id)?.length ?? 0) > 1),
    wrongSums: wrongSumsOf(await summarize(client, { customer_identifier: writersCustomer }), own),
    overspent: overspentOf(ledger),
    misjudged: await misjudgedOf(
      client,
      standing.filter(({ isJudged }) => isJudged),
      uniqueIdsOf,
    ),
    unreceived: ids(standing.filter((span) => !uniqueIdsOf(span).some((id) => received.has(id)))),
    ambiguousMessages: [...messages].filter(([, bodies]) => bodies.size > 1).map(([id]) => id),
    figures: {
      "spans sent": spans.length,
      "spans acknowledged": acknowledged.length,
      "traces deleted": ledger.deletedTraces.size,
      "spans of deleted traces": spans.filter(isDeleted).length,
      "calls answered": calls.length,
      "requests to the provider": system.upstream.requests.length,
      "spans stored": rows.length,
      "spans judged": standing.filter(({ isJudged }) => isJudged).length,
      "webhook requests": system.receiver.received.length,
      "webhook messages": messages.size,
    },
  };
}

async function everySpan(client: TestClient): Promise<Row[]> {
  const fields = "include_fields=unique_id,custom_identifier,span_name,customer_identifier,cost,output";
  const rows: Row[] = [];
  let { results, next } = await listSpans(client, {}, `page_size=1000&${fields}`);
  for (;;) {
    rows.push(...results);
    if (next === null) return rows;
    const { pathname, search } = new URL(next);
    ({ results, next } = (await client.post(pathname + search, { filters: {} })).json as ListAnswer);
  }
}

function wrongSumsOf(summary: Row, rows: readonly Row[]): Audit["wrongSums"] {
  const cost = rows.reduce((sum, row) => sum + Number(row["cost"] ?? 0), 0);
  const pairs: Audit["wrongSums"] = [
    ["number_of_requests", Number(summary["number_of_requests"]), rows.length],
    ["total_cost", Number(summary["total_cost"]), cost],
  ];
  return pairs.filter(([, sum, ofSpans]) => Math.abs(sum - ofSpans) > 1e-9);
}

/** A call may use the rest of a budget, and more: its cost is known afterwards. */
function overspentOf({ calls, budgets }: Ledger): string[] {
  const spent = new Map<string, number>();
  for (const { customer, cost } of calls.values()) spent.set(customer, (spent.get(customer) ?? 0) + cost);
  return [...spent]
    .filter(([customer, cost]) => cost - callCost > (budgets.get(customer) ?? 0))
    .map(([customer]) => customer);
}

async function misjudgedOf(
  client: TestClient,
  spans: SentSpan[],
  uniqueIdsOf: (span: SentSpan) => string[],
): Promise<Array<[string, number]>> {
  const scores = await scoresByLog(client);
  return spans
    .map((span) => [span.id, uniqueIdsOf(span).reduce((sum, id) => sum + (scores.get(id) ?? 0), 0)] as [string, number])
    .filter(([, count]) => count !== 1);
}

const pageSize = 100;

async function scoresByLog(client: TestClient): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (let page = 1; ; page += 1) {
    const { results, next } = (await client.get(`/api/scores/?page_size=${pageSize}&page=${page}`)).json as ListAnswer;
    for (const { log_id } of results) counts.set(String(log_id), (counts.get(String(log_id)) ?? 0) + 1);
    if (next === null) return counts;
  }
}

function receivedBy({ receiver }: System): { messages: Map<string, Set<string>>; received: Set<string> } {
  const messages = new Map<string, Set<string>>();
  const received = new Set<string>();
  for (const { headers, body, json } of receiver.received) {
    const id = headers["webhook-id"] ?? "";
    messages.set(id, (messages.get(id) ?? new Set()).add(body));
    received.add(String(json["unique_id"]));
  }
  return { messages, received };
}

export async function countScores(client: TestClient): Promise<number> {
  return ((await client.get("/api/scores/?page_size=1")).json as ListAnswer).count;
}
