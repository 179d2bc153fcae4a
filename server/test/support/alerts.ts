import { randomUUID } from "node:crypto";
import { alertsLimits } from "../../src/alerts/limits.ts";
import { eventually } from "./evaluation.ts";
import type { Received, Receiver } from "./receiver.ts";
import { bodyOf } from "./spans.ts";
import { quickPasswords, startTestApp, type TestApp } from "./test-app.ts";
import type { ListAnswer, Row, TestClient } from "./test-client.ts";

/** A server whose clock a test may move. */
export type AlertApp = TestApp & { now: () => number; pass: (ms: number) => void };

/** The clock of the machine, with an offset that a test may change. */
export function movableClock(): Pick<AlertApp, "now" | "pass"> {
  let shiftMs = 0;
  return { now: () => Date.now() + shiftMs, pass: (ms) => void (shiftMs += ms) };
}

export async function startAlertApp(overrides: Record<string, string> = {}, clock = movableClock()): Promise<AlertApp> {
  const env = { SPANWAY_ALLOW_PRIVATE_UPSTREAMS: "127.0.0.1", ...overrides };
  return { ...(await startTestApp(env, quickPasswords, clock.now)), ...clock };
}

export const minuteMs = 60_000;

/** The end of the newest window that may be evaluated. */
export function newestEndMs(nowMs: number): number {
  return Math.floor((nowMs - alertsLimits.alertSettleMs) / minuteMs) * minuteMs;
}

export type AlertState = Row & { group: Row; state: string; value: number | null; spans_url: string; since: string };
export type AlertRow = Row & {
  id: string;
  state: string;
  states: AlertState[];
  channels: Array<Row & { id: number; secrets?: string }>;
  evaluated_until: string | null;
  last_error: string | null;
};

export async function newAlert(client: TestClient, fields: Row = {}): Promise<AlertRow> {
  const answer = await client.post("/api/alerts/", {
    name: "Too many requests",
    metric: "number_of_requests",
    window: "5m",
    operator: "gte",
    ...(fields["change_percentage"] === undefined && { threshold: 2 }),
    ...fields,
  });
  if (answer.status !== 201) throw new Error(`answered ${answer.status}: ${answer.text}`);
  return bodyOf(answer) as AlertRow;
}

export async function retrieveAlert(client: TestClient, id: string): Promise<AlertRow> {
  return bodyOf(await client.get(`/api/alerts/${id}/`)) as AlertRow;
}

/** The rule once a window that ends after `after` is evaluated. */
export function evaluated(client: TestClient, id: string, after = ""): Promise<AlertRow> {
  return eventually(async () => {
    const alert = await retrieveAlert(client, id);
    return (alert.evaluated_until ?? "") > after ? alert : undefined;
  }, 20_000);
}

export async function historyOf(client: TestClient, id: string): Promise<Row[]> {
  const answer = await client.get(`/api/alerts/${id}/history/`);
  return (answer.json as ListAnswer).results;
}

/** A unique path of a receiver. */
export const newPath = (): string => `/alert/${randomUUID()}`;

/** Spans that ended half a minute before the end of the newest window, by default. */
export async function send(app: AlertApp, client: TestClient, spans: readonly Row[]): Promise<void> {
  const before = (await client.list({})).count;
  const timestamp = new Date(newestEndMs(app.now()) - minuteMs / 2).toISOString();
  for (const span of spans) {
    const answer = await client.post("/api/request-logs/", { timestamp, log_type: "chat", ...span });
    if (answer.status !== 201) throw new Error(answer.text);
  }
  await client.waitForSpans(before + spans.length);
}

export const spansOf = (n: number, span: Row = {}): Row[] => Array.from({ length: n }, () => span);

/** The rule after the next minute: evaluated up to the newest window, not up to a missed one. */
export async function nextMinute(app: AlertApp, client: TestClient, { id }: AlertRow): Promise<AlertRow> {
  app.pass(minuteMs);
  return evaluated(client, id, new Date(newestEndMs(app.now()) - 1).toISOString());
}

/** The requests on a path, once there are this many. */
export function received(receiver: Receiver, path: string, count: number): Promise<Received[]> {
  return eventually(() => {
    const got = receiver.on(path);
    return Promise.resolve(got.length >= count ? got : undefined);
  }, 15_000);
}
