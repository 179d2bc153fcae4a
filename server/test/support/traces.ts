import { always, settle } from "./spans.ts";
import type { Answer, ListAnswer, Row, TestClient } from "./test-client.ts";

/** Steps that tests of traces begin with. Each throws what the server said when a step is refused. */

/** The time of a second, and what is left of it in digits: `second(1, "000001")`. */
export function second(n: number, fraction = "000"): string {
  return new Date(Date.UTC(2026, 1, 3, 4, 5, 0) + n * 1000).toISOString().replace(/\.000Z$/, `.${fraction}Z`);
}

/** A span of a trace that takes one second from `start`, a number of seconds. */
export function traceSpan(trace: string, id: string, parent: string | null, start = 0, members: Row = {}): Row {
  return {
    trace_unique_id: trace,
    span_unique_id: id,
    span_name: id,
    ...(parent !== null && { span_parent_id: parent }),
    log_type: "task",
    start_time: second(start),
    timestamp: second(start + 1),
    ...members,
  };
}

/** Ingests spans, each list in a request of its own, and waits until they are visible. */
export async function ingest(client: TestClient, ...requests: ReadonlyArray<readonly Row[]>): Promise<void> {
  for (const spans of requests) {
    const answer = await client.post("/api/v1/traces/ingest", spans);
    const { ingested_spans: count } = answer.json as Row;
    if (count !== spans.length) throw new Error(`ingest answered ${answer.status}: ${answer.text}`);
  }
  await settle(client);
}

export async function listTraces(client: TestClient, filters: unknown = {}, query = always): Promise<ListAnswer> {
  const answer = await client.post(`/api/traces/list/?${query}`, { filters });
  if (answer.status !== 200) throw new Error(`list answered ${answer.status}: ${answer.text}`);
  return answer.json as ListAnswer;
}

export function getTrace(client: TestClient, id: string, query = ""): Promise<Answer> {
  return client.get(`/api/traces/${encodeURIComponent(id)}/?${query}`);
}

export type Node = Row & { span_unique_id: string; children: Node[] };

export async function retrieveTrace(client: TestClient, id: string, query = ""): Promise<Row & { span_tree: Node[] }> {
  const answer = await getTrace(client, id, query);
  if (answer.status !== 200) throw new Error(`retrieve answered ${answer.status}: ${answer.text}`);
  return answer.json as Row & { span_tree: Node[] };
}

/** `a(b(d) c)`: the span ids of a tree. */
export function drawTree(nodes: readonly Node[]): string {
  return nodes
    .map(({ span_unique_id: id, children }) => (children.length === 0 ? id : `${id}(${drawTree(children)})`))
    .join(" ");
}
