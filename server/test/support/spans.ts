import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Answer, ListAnswer, Row, TestClient } from "./test-client.ts";

/** Set-up steps of most tests of spans. Each throws the server's response if a step is refused. */

/** A window that contains every span except the markers of `settle`, as a query string. */
export const always = "start_time=1980-01-01&end_time=2262-01-01";

const waitMs = 10_000;
const pollMs = 10;

/** Creates one span; returns the body of the 201. */
export async function createSpan(client: TestClient, body: unknown, headers?: Record<string, string>): Promise<Row> {
  const answer = await client.post("/api/request-logs/", body, headers);
  if (answer.status !== 201) throw new Error(`create answered ${answer.status}: ${answer.text}`);
  return bodyOf(answer);
}

/** Creates spans in one request, and waits until all are listed. */
export async function storeSpans(client: TestClient, logs: readonly Row[]): Promise<void> {
  const answer = await client.post("/api/request-logs/bulk/", { logs });
  if (bodyOf(answer)["success_count"] !== logs.length)
    throw new Error(`bulk answered ${answer.status}: ${answer.text}`);
  await settle(client);
}

/** Retrieves a span, as soon as it is visible. */
export async function retrieveSpan(client: TestClient, uniqueId: unknown): Promise<Row> {
  const deadline = Date.now() + waitMs;
  for (;;) {
    const answer = await client.get(`/api/request-logs/${String(uniqueId)}/`);
    if (answer.status === 200) return bodyOf(answer);
    if (answer.status !== 404 || Date.now() > deadline) {
      throw new Error(`retrieve answered ${answer.status}: ${answer.text}`);
    }
    await sleep(pollMs);
  }
}

/** Creates a span and reads it back. */
export async function roundTrip(client: TestClient, body: unknown): Promise<Row> {
  return retrieveSpan(client, (await createSpan(client, body))["unique_id"]);
}

/**
 * Waits until all spans that the API accepted before are visible and counted. For a server in a separate process it uses markers, spans of
 * a trace of 1970, because spans become visible in order.
 */
export async function settle(client: TestClient): Promise<void> {
  if (client.settled !== undefined) return await client.settled();
  const place = { log_type: "marker", timestamp: "1970-01-01T00:00:00Z", trace_unique_id: randomUUID() };
  const [marker] = await Promise.all([
    createSpan(client, { ...place, span_unique_id: "child", span_parent_id: "root" }),
    createSpan(client, { ...place, span_unique_id: "root", thread_identifier: "marker" }),
  ]);
  const deadline = performance.now() + settledWithinMs;
  while ((await retrieveSpan(client, marker["unique_id"]))["counted_thread_identifier"] !== "marker") {
    if (performance.now() > deadline) throw new Error("spans were not counted in time");
    await sleep(pollMs);
  }
}

const settledWithinMs = 20_000;

/**
 * Waits until the spans of all gateway calls that ended before are visible. They are queued before they are accepted, so spans of the API
 * may overtake them. For a server in a separate process it makes a call of `spanway/echo`, `marker`.
 */
export async function settleCalls(client: TestClient): Promise<void> {
  if (client.settled !== undefined) return await client.settled();
  const messages = [{ role: "user", content: "Are all here?" }];
  const marker = { model: "spanway/echo", messages, custom_identifier: "marker" };
  const answer = await client.post("/api/chat/completions", marker);
  if (answer.status !== 200) throw new Error(`the marker answered ${answer.status}: ${answer.text}`);
  await retrieveSpan(client, answer.headers.get("x-spanway-log-id"));
  await settle(client);
}

/** One page of the spans of all time. */
export async function listSpans(client: TestClient, filters: unknown = {}, query = ""): Promise<ListAnswer> {
  const answer = await client.post(`/api/request-logs/list/?${always}&${query}`, { filters });
  if (answer.status !== 200) throw new Error(`list answered ${answer.status}: ${answer.text}`);
  return answer.json as ListAnswer;
}

/** The sums over spans of all time. */
export async function summarize(client: TestClient, filters: unknown = {}): Promise<Row> {
  const answer = await client.post(`/api/request-logs/summary/?${always}`, { filters });
  if (answer.status !== 200) throw new Error(`summary answered ${answer.status}: ${answer.text}`);
  return bodyOf(answer);
}

/** One member of each row as text, sorted. */
export function sortedValues(rows: readonly Row[], member: string): string[] {
  return rows.map((row) => String(row[member])).sort();
}

export function bodyOf(answer: Answer): Row {
  return answer.json as Row;
}

/** The names of the fields that a response rejects. */
export function fieldsOf(answer: Answer): string[] {
  return Object.keys(bodyOf(answer)["errors"] ?? {});
}
