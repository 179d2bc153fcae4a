import { always, settle } from "./spans.ts";
import type { Answer, ListAnswer, Row, TestClient } from "./test-client.ts";

/** Set-up steps of tests of traces. Each throws the server's response if a step is refused. */

/** The time of a second, with the given digits of its fraction: `second(1, "000001")`. */
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

/** Ingests spans, each list in a separate request, and waits until they are visible. */
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

/** The members that clients read of a trace, and of a node of its tree. */
export const traceMembers = [
  ..."id trace_unique_id root_span_unique_id unique_organization_id organization_id organization_name".split(" "),
  ..."organization_key_id environment customer_identifier start_time end_time duration span_count".split(" "),
  ..."llm_call_count total_cost total_prompt_tokens total_completion_tokens total_tokens error_count".split(" "),
  ..."name input output metadata trace_group_identifier session_identifier model storage_object_key".split(" "),
];
export const nodeMembers = [
  ..."id unique_id span_unique_id span_name span_parent_id trace_unique_id customer_identifier".split(" "),
  ..."thread_identifier session_identifier organization_key_id organization_id environment log_type".split(" "),
  ..."timestamp start_time end_time prompt_tokens completion_tokens total_request_tokens cost model".split(" "),
  ..."latency status_code status input output metadata span_links storage_object_key".split(" "),
  ..."span_workflow_name children".split(" "),
];
