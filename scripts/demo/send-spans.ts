import { setTimeout as sleep } from "node:timers/promises";
import type { SpanBody } from "./to-spans.ts";

export type Target = { url: string; key: string };
export type SendReport = { accepted: number; refused: Array<{ index: number; error: string }>; requests: number };

/** An error that the user at the terminal can fix. */
export class DemoError extends Error {}

const rowsPerRequest = 500;
const attemptsMax = 10;
const defaultWaitS = 5;

/**
 * Sends spans by the bulk route, as many per request as it accepts, and waits as long as the server requires after 429.
 * Throws `DemoError`.
 */
export async function sendSpans(
  target: Target,
  spans: readonly SpanBody[],
  onWait: (seconds: number) => void = () => undefined,
): Promise<SendReport> {
  const report: SendReport = { accepted: 0, refused: [], requests: 0 };
  for (let start = 0; start < spans.length; start += rowsPerRequest) {
    const answer = await postLogs(target, spans.slice(start, start + rowsPerRequest), onWait);
    report.requests += 1;
    report.accepted += answer.success_count;
    report.refused.push(...answer.errors.map(({ index, error }) => ({ index: start + index, error })));
  }
  return report;
}

const visibleWithinMs = 30_000;
const pollEveryMs = 50;

/**
 * Waits until the last span is listed at its new time, which takes a second or less; a node stores spans in the order
 * of acceptance, so the others are stored then too. Otherwise the next commands would find only some of them. Continues
 * after half a minute in any case.
 */
export async function untilVisible(target: Target, spans: readonly SpanBody[]): Promise<void> {
  const last = spans.at(-1);
  if (last === undefined) return;
  const path = `/api/request-logs/summary/?start_time=${last.timestamp}&end_time=${last.timestamp}`;
  const body = JSON.stringify({ filters: { span_unique_id: { value: [last.span_unique_id] } } });
  for (const deadline = Date.now() + visibleWithinMs; Date.now() < deadline; await sleep(pollEveryMs)) {
    const answer = (await (await post(target, { method: "POST", path, body })).json()) as {
      number_of_requests?: number;
    };
    if (answer.number_of_requests !== 0) return;
  }
}

type BulkAnswer = { success_count: number; error_count: number; errors: Array<{ index: number; error: string }> };

async function postLogs(target: Target, logs: SpanBody[], onWait: (seconds: number) => void): Promise<BulkAnswer> {
  const response = await send(
    target,
    { method: "POST", path: "/api/request-logs/bulk/", body: JSON.stringify({ logs }) },
    onWait,
  );
  if (response.status === 201) return (await response.json()) as BulkAnswer;
  throw new DemoError(`${target.url} answered ${response.status}: ${(await response.text()).slice(0, 500)}`);
}

/**
 * Sends JSON, and waits if the server responds with 429. Throws `DemoError` if the server is unreachable or rejects the
 * key.
 */
export async function send(
  target: Target,
  request: { method: string; path: string; body?: string },
  onWait: (seconds: number) => void = () => undefined,
): Promise<Response> {
  for (let attempt = 1; ; attempt += 1) {
    const response = await post(target, request);
    if (response.status === 401) {
      throw new DemoError(`${target.url} does not know this API key. Pass one that works with --key.`);
    }
    const retry = response.status === 429 || response.status === 503;
    if (!retry || attempt === attemptsMax) return response;
    await response.body?.cancel();
    const seconds = Number(response.headers.get("retry-after")) || defaultWaitS;
    onWait(seconds);
    await sleep(seconds * 1000);
  }
}

async function post(
  { url, key }: Target,
  { method, path, body }: { method: string; path: string; body?: string },
): Promise<Response> {
  try {
    return await fetch(new URL(path, url), {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body !== undefined && { "content-type": "application/json" }) },
      ...(body !== undefined && { body }),
    });
  } catch (error) {
    const { cause } = error as { cause?: { code?: string } };
    throw new DemoError(`Nothing answers at ${url} (${cause?.code ?? "network error"}). Start the server: npm start`);
  }
}
