import { setTimeout as sleep } from "node:timers/promises";

export type Answer = { status: number; headers: Headers; text: string; json: unknown };
export type Row = Record<string, unknown>;
export type ListAnswer = { count: number; next: string | null; previous: string | null; results: Row[] };

/** Sends requests to a server with one credential. Bodies other than bytes or text are sent as JSON. */
export type TestClient = {
  /** The header that it sends; "" without a credential. */
  authorization: string;
  request(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  get(path: string): Promise<Answer>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** For a server in this process: resolves once all accepted spans are stored and counted. */
  settled: (() => Promise<void>) | undefined;
  /** Lists spans of all time. */
  list(filters?: unknown, query?: Record<string, string>): Promise<ListAnswer>;
  /** Polls until `path` lists `count` spans; returns the last response otherwise. Accepted spans are visible within a second. */
  waitForSpans(count: number, filters?: unknown, query?: Record<string, string>): Promise<ListAnswer>;
};

const allTime = { start_time: "1900-01-01", end_time: "2262-01-01" };
const waitMs = 10_000;

export function createClient(url: string, token?: string, settled?: () => Promise<void>): TestClient {
  const client: TestClient = {
    authorization: token === undefined ? "" : `Bearer ${token}`,
    settled,
    async request(method, path, body, headers = {}) {
      const isRaw = body === undefined || typeof body === "string" || body instanceof Uint8Array;
      const response = await fetch(new URL(path, url), {
        method,
        headers: {
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { "content-type": "application/json" }),
          ...headers,
        },
        ...(body !== undefined && { body: isRaw ? asBodyInit(body) : JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, json: parsed(text) };
    },
    get: (path) => client.request("GET", path),
    post: (path, body, headers) => client.request("POST", path, body, headers),
    async list(filters = {}, query = {}) {
      const search = new URLSearchParams({ ...allTime, ...query });
      const answer = await client.post(`/api/request-logs/list/?${search.toString()}`, { filters });
      if (answer.status !== 200) throw new Error(`list answered ${answer.status}: ${answer.text}`);
      return answer.json as ListAnswer;
    },
    async waitForSpans(count, filters, query) {
      const deadline = Date.now() + waitMs;
      for (;;) {
        const answer = await client.list(filters, query);
        if (answer.count >= count || Date.now() > deadline) return answer;
        await sleep(10);
      }
    },
  };
  return client;
}

function asBodyInit(body: unknown): string | Uint8Array<ArrayBuffer> {
  return body as string | Uint8Array<ArrayBuffer>;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
