import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { storeSpans } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { Answer, Row, TestClient } from "../support/test-client.ts";

let app: TestApp;
let prod: TestClient;
beforeAll(async () => {
  app = await startTestApp();
  ({ prod } = app);
  await storeSpans(prod, [
    {
      log_type: "chat",
      model: "m1",
      customer_identifier: "acme",
      cost: 1,
      prompt_tokens: 10,
      completion_tokens: 1,
      metadata: { plan: "pro" },
    },
    { log_type: "chat", model: "m2", customer_identifier: "acme", cost: 2, prompt_tokens: 10, completion_tokens: 2 },
    { log_type: "tool", model: "m2", customer_identifier: "globex", cost: 4, prompt_tokens: 10, completion_tokens: 5 },
  ]);
});
afterAll(() => app.stop());

const jsonOf = ({ json }: Answer) => json as Row;
const methods = ["GET", "POST"] as const;

/** What a read sums up of the spans that it is about. */
const reads: Record<string, (method: string, parameters: string) => Promise<[answer: Answer, cost: number]>> = {
  summary: async (method, parameters) => {
    const answer = await prod.request(method, `/api/request-logs/summary/?${parameters}`);
    return [answer, Number(jsonOf(answer)["total_cost"])];
  },
  groups: async (method, parameters) => {
    const answer = await prod.request(method, `/api/request-logs/groups/?group_by=environment&${parameters}`);
    const rows = (jsonOf(answer)["results"] ?? []) as Row[];
    return [answer, rows.reduce((sum, { total_cost }) => sum + Number(total_cost), 0)];
  },
  list: async (method, parameters) => {
    const answer = await prod.request(method, `/api/request-logs/list/?${parameters}`);
    const rows = (jsonOf(answer)["results"] ?? []) as Row[];
    return [answer, rows.reduce((sum, { cost }) => sum + Number(cost ?? 0), 0)];
  },
};

describe.each(Object.entries(reads))("M9: URL filters of %s", (_, read) => {
  test.each([
    ["customer_identifier=nobody", 0],
    ["customer_identifier=acme", 3],
    ["customer_identifier=acme&customer_identifier=globex&model=m2", 6],
    ["cost[value]=2&cost[operator]=gte", 6],
    ["model[operator]=in&model[value]=m1,m3", 1],
    ["metadata__plan=pro", 1],
    ["log_type=tool", 4],
    ["log_type=chat,tool", 7],
    ["environment=test", 0],
  ])("%s sums to %d", async (parameters, cost) => {
    for (const method of methods) {
      const [answer, sum] = await read(method, parameters);
      expect([method, answer.status, sum, jsonOf(answer)["warnings"]]).toEqual([method, 200, cost, undefined]);
    }
  });

  test("a name that is no field filters metadata, and the answer says so", async () => {
    for (const method of methods) {
      const [answer, sum] = await read(method, "custmer_identifier=acme");
      expect([answer.status, sum]).toEqual([200, 0]);
      expect(jsonOf(answer)["warnings"]).toEqual([expect.stringContaining("metadata__custmer_identifier")]);
    }
  });

  test.each(["cost[operator]=nonsense&cost[value]=1", "cost=much", "cost[valeu]=1"])(
    "%s is 400",
    async (parameters) => {
      for (const method of methods) expect((await read(method, parameters))[0].status).toBe(400);
    },
  );
});

test("M9: filters of URL and body hold together", async () => {
  const body = { filters: { model: { value: ["m2"] } } };
  const answer = await prod.post("/api/request-logs/summary/?customer_identifier=acme", body);
  expect(jsonOf(answer)).toMatchObject({ number_of_requests: 1, total_cost: 2 });
});

describe("F8: an answer says what it covers", () => {
  test.each([
    "/api/request-logs/list/",
    "/api/request-logs/summary/",
    "/api/request-logs/groups/?group_by=model",
    "/api/traces/list/",
    "/api/log_threads/",
  ])("%s", async (path) => {
    const at = path.includes("?") ? "&" : "?";
    const { window, environment } = jsonOf(await prod.get(`${path}${at}end_time=2020-05-05T12:00:00Z`)) as {
      window: unknown;
      environment: unknown;
    };
    expect(window).toEqual({ start_time: "2020-05-05T11:00:00.000Z", end_time: "2020-05-05T12:00:00.000Z" });
    expect(environment).toBe(path === "/api/log_threads/" ? "prod" : "all");
    expect(jsonOf(await prod.get(`${path}${at}environment=prod`))["environment"]).toBe("prod");
  });
});

test("S13: average_tokens of groups is an integer", async () => {
  const answer = await prod.get("/api/request-logs/groups/?group_by=environment");
  const [row] = jsonOf(answer)["results"] as Row[];
  expect(row).toMatchObject({ total_tokens: 38, average_tokens: 13 });
});
