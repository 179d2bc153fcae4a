import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { AnyEndpoint } from "../../src/http/endpoint.ts";
import { everyEndpoint } from "../support/endpoints.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { ListAnswer, TestClient } from "../support/test-client.ts";
import { always, bodyOf, fieldsOf, storeSpans } from "../support/spans.ts";

/** The query parameters shared by lists, tested on the list of spans, and rules of every parameter of a URL. */
let app: TestApp;
let prod: TestClient;
const path = "/api/request-logs/list/";
const minute = 60_000;

beforeAll(async () => {
  app = await startTestApp();
  ({ prod } = await app.newOrganization());
});
afterAll(() => app.stop());

const listed = async (query: string, client = prod): Promise<ListAnswer> => {
  const answer = await client.post(`${path}?${query}`, {});
  if (answer.status !== 200) throw new Error(`list answered ${answer.status}: ${answer.text}`);
  return answer.json as ListAnswer;
};
const names = ({ results }: ListAnswer) => results.map((row) => row["span_name"]);

describe("start_time and end_time", () => {
  let client: TestClient;
  const nowMs = Date.now();
  const at = (minutesAgo: number) => new Date(nowMs - minutesAgo * minute).toISOString();
  beforeAll(async () => {
    ({ prod: client } = await app.newOrganization());
    await storeSpans(client, [
      { span_name: "5", timestamp: at(5) },
      { span_name: "55", timestamp: at(55) },
      { span_name: "65", timestamp: at(65) },
      { span_name: "115", timestamp: at(115) },
      { span_name: "125", timestamp: at(125) },
      { span_name: "future", timestamp: at(-365 * 24 * 60) },
      { span_name: "far", timestamp: "2024-02-29T12:00:00Z" },
    ]);
  });

  test.each<[name: string, query: string, expected: string[]]>([
    ["the last hour by default", "", ["5", "55"]],
    ["empty ones are absent", "start_time=&end_time=", ["5", "55"]],
    ["start_time alone reaches to now", `start_time=${at(70)}`, ["5", "55", "65"]],
    ["end_time alone reaches one hour back", `end_time=${at(60)}`, ["65", "115"]],
    ["both", `start_time=${at(116)}&end_time=${at(55)}`, ["55", "65", "115"]],
    ["both ends are part of the window", `start_time=${at(65)}&end_time=${at(55)}`, ["55", "65"]],
    ["one instant", `start_time=${at(65)}&end_time=${at(65)}`, ["65"]],
    ["a date is its midnight in UTC", "start_time=2024-02-29&end_time=2024-03-01", ["far"]],
    ["a naive time is UTC", "start_time=2024-02-29T12:00:00&end_time=2024-02-29T12:00:00", ["far"]],
    ["an offset", "start_time=2024-02-29T13:59:00%2B02:00&end_time=2024-02-29T14:01:00%2B02:00", ["far"]],
    ["a plus that was not escaped", "start_time=2024-02-29T13:59:00+02:00&end_time=2024-02-29T14:01:00+02:00", ["far"]],
    ["epoch seconds", "start_time=1709208000&end_time=1709208000", ["far"]],
    ["epoch milliseconds", "start_time=1709208000000&end_time=1709208000001", ["far"]],
    ["the future", `start_time=${at(-1)}&end_time=2100-01-01`, ["future"]],
  ])("%s", async (_name, query, expected) => {
    expect(names(await listed(query, client))).toEqual(expected);
  });

  test("the window applies to the END of spans", async () => {
    const { prod: alone } = await app.newOrganization();
    await storeSpans(alone, [{ span_name: "long", start_time: at(120), timestamp: at(1) }]);
    expect(names(await listed("", alone))).toEqual(["long"]);
    expect(names(await listed(`end_time=${at(90)}`, alone))).toEqual([]);
  });

  test.each<[field: string, query: string]>([
    ["start_time", "start_time=yesterday"],
    ["start_time", "start_time=2026-02-30"],
    ["start_time", "start_time=2026-01-01T25:00:00Z"],
    ["end_time", "end_time=NaN"],
    ["end_time", "end_time=1e400"],
    ["end_time", "end_time=2026-01-01&end_time=2026-01-02"],
    ["start_time", "start_time=2026-01-02&end_time=2026-01-01"],
    ["start_time", "start_time=2999-01-01"],
    ["start_time", `start_time=${encodeURIComponent("2026-01-01' OR 1=1")}`],
  ])("%s is named by the 400 to %s", async (field, query) => {
    const answer = await client.post(`${path}?${query}`);
    expect(answer.status).toBe(400);
    expect(fieldsOf(answer)).toEqual([field]);
    expect(bodyOf(answer)["detail"]).toContain(field);
  });
});

describe("page and page_size", () => {
  beforeAll(() =>
    storeSpans(
      prod,
      Array.from({ length: 123 }, (_, n) => ({ span_name: `${n}`, prompt_tokens: n })),
    ),
  );

  test("are 1 and 50 by default, newest first", async () => {
    const answer = await listed("sort_by=prompt_tokens");
    expect(answer.count).toBe(123);
    expect(names(answer)).toEqual(Array.from({ length: 50 }, (_, n) => `${n}`));
    expect((await listed("")).results).toHaveLength(50);
  });

  test("a page of 1000 is allowed", async () => {
    expect((await listed("page_size=1000")).results).toHaveLength(123);
  });

  test("next and previous are absolute URLs that lead through all pages and keep the query", async () => {
    const first = await listed(
      `${always}&sort_by=prompt_tokens&page_size=50&span_name[operator]=not&span_name[value]=7`,
    );
    expect(first.previous).toBeNull();
    expect(first.next).toMatch(new RegExp(`^${app.url}/api/request-logs/list/\\?`));
    const second = (await prod.post(String(first.next), {})).json as ListAnswer;
    const third = (await prod.post(String(second.next), {})).json as ListAnswer;
    expect(third.next).toBeNull();
    expect(third.results).toHaveLength(22);
    expect(third).toMatchObject({ count: 122, previous: expect.stringMatching(/&page=2$/) });
    const back = (await prod.post(String(third.previous), {})).json as ListAnswer;
    expect(back.results).toEqual(second.results);
    expect([...names(first), ...names(second), ...names(third)]).toEqual(
      Array.from({ length: 123 }, (_, n) => `${n}`).filter((name) => name !== "7"),
    );
  });

  test("links work on GET too", async () => {
    const first = (await prod.get(`${path}?page_size=100`)).json as ListAnswer;
    const second = (await prod.get(String(first.next))).json as ListAnswer;
    expect(second.results).toHaveLength(23);
  });

  test("a page past the end is 200 and empty", async () => {
    for (const page of [4, 1000, 1_000_000]) {
      expect(await listed(`page=${page}`)).toMatchObject({ count: 123, next: null, results: [] });
    }
  });

  test.each([
    "page=0",
    "page=-1",
    "page=1.5",
    "page=one",
    "page=1e3",
    "page=99999999999999999999",
    "page=1&page=2",
    "page_size=0",
    "page_size=-5",
    "page_size=1001",
    "page_size=ten",
    "page_size=50;--",
  ])("%s is 400 naming the parameter", async (query) => {
    const field = String(query.split("=")[0]);
    const answer = await prod.post(`${path}?${query}`);
    expect(answer.status).toBe(400);
    expect(fieldsOf(answer)).toEqual([field]);
    expect(bodyOf(answer)["detail"]).toContain(field);
  });
});

describe("environment", () => {
  test.each(["production", "PROD", "prod,test"])("%s is 400", async (environment) => {
    const answer = await prod.post(`${path}?environment=${environment}`);
    expect(answer.status).toBe(400);
    expect(fieldsOf(answer)).toEqual(["environment"]);
  });
});

const parametersOf = everyEndpoint().flatMap((endpoint) =>
  endpoint.query instanceof z.ZodObject && endpoint.auth !== "none"
    ? Object.entries(endpoint.query.shape).map(([name, schema]) => [endpoint, name, schema as z.ZodType] as const)
    : [],
);

/** Its path with ids that could exist: an id that cannot is 404 before the query is read. */
function pathOf({ path, params }: AnyEndpoint): string {
  return path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => {
    const uuid = "00000000-0000-4000-8000-000000000001";
    const shape = params instanceof z.ZodObject ? (params.shape as Record<string, z.ZodType>) : {};
    return shape[name]?.safeParse(uuid).success === true ? uuid : "1";
  });
}

describe.each(["key", "user"] as const)("every parameter of operations for a %s", (credential) => {
  const own = parametersOf.filter(([{ auth }]) => (auth === "user") === (credential === "user"));
  /** The errors by parameter; empty where the request was refused for something else, or not at all. */
  async function errorsOf(endpoint: AnyEndpoint, query: string): Promise<Record<string, string[]>> {
    const { method } = endpoint;
    const client = credential === "user" ? await app.login() : prod;
    const url = `${pathOf(endpoint)}?${query}`;
    const answer = await fetch(new URL(url, app.url), {
      method,
      headers: { authorization: client.authorization, "content-type": "application/json" },
      ...(method !== "GET" && { body: "{}" }),
    });
    if (answer.status !== 400) {
      // A stream would not end.
      await answer.body?.cancel();
      return {};
    }
    const body = (await answer.json()) as { errors?: Record<string, string[]> };
    // Some operations return field errors at the top level.
    return body.errors ?? (body as Record<string, string[]>);
  }

  test("is absent if it is empty", async () => {
    for (const [endpoint, name, schema] of own) {
      const isRequired = !schema.safeParse(undefined).success;
      const found = Object.keys(await errorsOf(endpoint, `${name}=`)).includes(name);
      expect([endpoint.id, name, found]).toEqual([endpoint.id, name, isRequired]);
    }
  });

  test("is refused by name if it is given twice", async () => {
    for (const [endpoint, name] of own) {
      const errors = await errorsOf(endpoint, `${name}=1&${name}=1`);
      expect([endpoint.id, Object.keys(errors)]).toEqual([endpoint.id, expect.arrayContaining([name])]);
    }
  });
});

test.each(["request-logs/list/", "request-logs/summary/", "traces/list/", "users/list/"])(
  "an empty parameter of %s is neither a filter nor a reason for a warning",
  async (route) => {
    const without = bodyOf(await prod.get(`/api/${route}`));
    for (const name of ["filters", "log_type", "environment", "start_time", "end_time"]) {
      const { count, number_of_requests, warnings } = bodyOf(await prod.get(`/api/${route}?${name}=`));
      expect([name, count, number_of_requests, warnings]).toEqual([
        name,
        without["count"],
        without["number_of_requests"],
        undefined,
      ]);
    }
  },
);

test.each([
  ["request-logs/list/", "sort_by"],
  ["request-logs/live/", "last_event_id"],
  ["request-logs/facets/", "search"],
  ["request-logs/groups/", "search"],
])("a text that is too long for a parameter of %s is refused for its length", async (path_, name) => {
  const answer = await prod.get(`/api/${path_}?group_by=model&${name}=${"x".repeat(1_100)}`);
  expect([answer.status, bodyOf(answer)["errors"]]).toMatchObject([
    400,
    { [name]: [expect.stringMatching(/at most \d+ characters/)] },
  ]);
});
