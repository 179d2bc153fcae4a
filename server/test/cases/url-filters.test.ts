import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { filtersBody } from "../../src/api/read-filters.ts";
import { urlParameters } from "../../src/filter/quick-filters.ts";
import { everyEndpoint } from "../support/endpoints.ts";
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

/** The sums of a read over the spans that it selects. */
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
  timeseries: async (method, parameters) => {
    const answer = await prod.request(method, `/api/request-logs/timeseries/?${parameters}`);
    const [whole] = (jsonOf(answer)["series"] ?? []) as Array<{ totals: Row }>;
    return [answer, Number(whole?.totals["total_cost"] ?? 0)];
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

  test("a name that is not a field filters metadata, and the response says so", async () => {
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

/** Every route with filters of spans, except bulk delete, which reads them only from its body. */
const filtered = everyEndpoint().filter(({ body, id }) => {
  const schema = body?.kind === "json" ? body.schema : undefined;
  return (
    schema instanceof z.ZodObject && schema.shape["filters"] === filtersBody.shape.filters && id !== "delete_traces"
  );
});
describe.each(filtered.map(({ id, path }) => [id, path] as const))("M9: parameters of the URL of %s", (id, path) => {
  let own: TestClient;
  beforeAll(async () => {
    own = (await app.newOrganization()).prod;
    const ids = { customer_identifier: "acme", thread_identifier: "talk", trace_unique_id: "t" };
    const usage = { prompt_tokens: 10, completion_tokens: 1 };
    await storeSpans(own, [{ log_type: "chat", model: "gpt-4o", ...ids, ...usage }]);
    // Customers appear a moment later.
    await vi.waitFor(
      async () => {
        if (jsonOf(await own.get("/api/users/list/"))["count"] !== 1) throw new Error("no customer yet");
      },
      { timeout: 10_000 },
    );
  });
  const always = id === "group_spans" ? "start_time=2000-01-01&group_by=model" : "start_time=2000-01-01";
  const send = (query: string) => {
    const [name = ""] = query.split("=");
    const others = always.split("&").filter((parameter) => !parameter.startsWith(`${name}=`));
    return own.post(`${path}?${[...others, query].join("&")}`, {});
  };
  /** The number of matches, and what is shown of them. */
  const shownIn = (answer: Answer) => {
    if (id.startsWith("export_")) return answer.text;
    const {
      looked_at: lookedAt,
      count,
      number_of_requests: number,
      results,
      filters_data: fields,
      facets,
      series,
    } = jsonOf(answer) as { results?: Row[] } & Row;
    return JSON.stringify([count, lookedAt, number, Object.keys(results?.[0] ?? {}), fields, facets, series]);
  };
  const outcomeOf = (answer: Answer) => {
    const { warnings = [] } = (answer.json ?? {}) as Row;
    return JSON.stringify(warnings);
  };

  test.each([...urlParameters])(
    "%s with a nonsense value is refused, applied or named in the response",
    async (name) => {
      // An unknown sort field of groups means the default, as the interface specifies.
      if (id === "group_spans" && name === "sort_by") return;
      const [all, answer] = [await send(""), await send(`${name}=nonsense`)];
      expect(all.status).toBe(200);
      expect(answer.status === 400 || outcomeOf(answer).includes(name) || shownIn(answer) !== shownIn(all)).toBe(true);
    },
  );

  test.each(["is_test=true", "environment=test"])("%s reads only test data, or nothing", async (query) => {
    const answer = await send(query);
    const [prods, tests] = [await send("environment=prod"), await send("environment=test")];
    const isApplied = answer.status === 200 && shownIn(answer) !== shownIn(prods) && shownIn(answer) === shownIn(tests);
    const isMatched =
      id === "list_threads"
        ? outcomeOf(answer).includes("environment has no effect")
        : id === "reprice_spans"
          ? answer.status === 403
          : isApplied;
    expect([answer.text, isMatched]).toEqual([answer.text, true]);
  });

  test.each(["is_test=true&environment=prod", "is_test=false&environment=test", "all_envs=true&environment=prod"])(
    "%s is 400",
    async (query) => expect((await send(query)).status).toBe(400),
  );

  test("several log types are alternatives", async () => {
    const [none, some, all] = [await send("log_type=nope"), await send("log_type=nope,tool,chat"), await send("")];
    expect(shownIn(some)).toBe(shownIn(all));
    expect(shownIn(none)).not.toBe(shownIn(all));
  });
});

/** Lists with a path of their own and pages, of any resource. */
const lists = everyEndpoint().filter(
  ({ method, path, success }) =>
    method === "GET" &&
    !path.includes("{") &&
    success.schema instanceof z.ZodObject &&
    "results" in success.schema.shape &&
    "next" in success.schema.shape,
);
test.each(lists.map(({ path, auth }) => [path, auth] as const))(
  "M9: a parameter that GET %s does not know is named",
  async (path, auth) => {
    const client = auth === "user" ? await app.login() : prod;
    const answer = await client.get(`${path}?group_by=model&page=1&no_such_parameter=1`);
    expect([answer.status, answer.text.slice(0, answer.status === 200 ? 0 : 200)]).toEqual([200, ""]);
    const { warnings } = jsonOf(answer);
    expect(warnings).toContainEqual(expect.stringContaining("no_such_parameter"));
    expect(warnings).not.toContainEqual(expect.stringMatching(/^page\b/));
  },
);

test("M9: filters of URL and body are combined", async () => {
  const body = { filters: { model: { value: ["m2"] } } };
  const answer = await prod.post("/api/request-logs/summary/?customer_identifier=acme", body);
  expect(jsonOf(answer)).toMatchObject({ number_of_requests: 1, total_cost: 2 });
});

describe("F8: a response states what it covers", () => {
  test.each([
    "/api/request-logs/list/",
    "/api/request-logs/summary/",
    "/api/request-logs/groups/?group_by=model",
    "/api/request-logs/timeseries/",
    "/api/request-logs/facets/",
    "/api/traces/list/",
    "/api/traces/timeseries/",
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

  test.each<[string, string, unknown]>([
    ["POST", "/api/traces/bulk/", { filters: { trace_unique_id: ["nothing"] } }],
    ["DELETE", "/api/traces/nothing/", undefined],
    ["POST", "/api/request-logs/reprice/", {}],
  ])("%s %s, which changes things in the environment of its key alone", async (method, path, body) => {
    const hour = { start_time: "2020-05-05T11:00:00.000Z", end_time: "2020-05-05T12:00:00.000Z" };
    const answer = await prod.request(method, `${path}?end_time=2020-05-05T12:00:00Z`, body);
    expect([answer.status, answer.json]).toEqual([200, expect.objectContaining({ window: hour, environment: "prod" })]);
  });

  test("/api/users/list/, of all time in the environment of its key", async () => {
    const of = async (query: string) => jsonOf(await prod.get(`/api/users/list/${query}`));
    const [start_time, end_time] = ["2020-05-05T11:00:00.000Z", "2020-05-05T12:00:00.000Z"];
    const always = { start_time: null, end_time: null };
    expect(await of("")).toMatchObject({ window: always, environment: "prod" });
    expect(await of("?environment=all")).toMatchObject({ window: always, environment: "all" });
    expect(await of(`?end_time=${end_time}`)).toMatchObject({ window: { start_time: null, end_time } });
    expect(await of(`?start_time=${start_time}`)).toMatchObject({ window: { start_time, end_time: null } });
    expect(await of(`?start_time=${start_time}&end_time=${end_time}`)).toMatchObject({
      window: { start_time, end_time },
    });
  });
});

test("S13: average_tokens of groups is an integer", async () => {
  const answer = await prod.get("/api/request-logs/groups/?group_by=environment");
  const [row] = jsonOf(answer)["results"] as Row[];
  expect(row).toMatchObject({ total_tokens: 38, average_tokens: 13 });
});
