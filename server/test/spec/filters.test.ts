import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { domainLimits } from "../../src/domain/limits.ts";
import { filterLimits } from "../../src/filter/limits.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { ListAnswer, Row, TestClient } from "../support/test-client.ts";
import { always, bodyOf, fieldsOf, listSpans, settle, storeSpans } from "../support/spans.ts";

let app: TestApp;
let prod: TestClient;
const path = "/api/request-logs/list/";

const spans: Row[] = [
  { span_name: "ada", customer_identifier: "Ada", cost: 1, prompt_tokens: 10, completion_tokens: 0, model: "gpt-4o" },
  {
    span_name: "bob",
    customer_identifier: "bob",
    cost: 2.5,
    prompt_tokens: 20,
    completion_tokens: 0,
    model: "gpt-4o-mini",
  },
  { span_name: "ADA", customer_identifier: "ADA", cost: 10, status_code: 500, workflow_name: "billing" },
  { span_name: "percent", customer_identifier: "100%_sure", cost: 0, metadata: { plan: "pro", seats: 5 } },
  { span_name: "eszett", customer_identifier: "STRASSE Ünï", log_type: "tool", metadata: { plan: "free", seats: 10 } },
  { span_name: "none", prompt_messages: [{ role: "user", content: 'Say "ünï\n🙂"' }], metadata: { plan: "pro" } },
];
const all = spans.map((span) => String(span["span_name"]));
const allBut = (...left: string[]) => all.filter((name) => !left.includes(name));

beforeAll(async () => {
  app = await startTestApp();
  const organization = await app.newOrganization();
  prod = organization.prod;
  await storeSpans(prod, spans);
  await storeSpans(organization.test, [{ span_name: "of test", customer_identifier: "tester" }]);
});
afterAll(() => app.stop());

const found = async (filters: unknown, query = "environment=prod") =>
  (await listSpans(prod, filters, query)).results.map((row) => String(row["span_name"])).sort();

describe("operators", () => {
  test.each<[field: string, operator: string, value: unknown[], expected: string[]]>([
    ["customer_identifier", "", ["Ada"], ["ada"]],
    ["customer_identifier", "", ["Ada", "bob"], ["ada", "bob"]],
    ["customer_identifier", "iexact", ["ada"], ["ada", "ADA"]],
    ["customer_identifier", "iexact", ["strasse ünï"], ["eszett"]],
    ["cost", "lt", [2.5], ["ada", "percent"]],
    ["cost", "lte", [2.5], ["ada", "bob", "percent"]],
    ["cost", "gt", [2.5], ["ADA"]],
    ["cost", "gte", ["2.5"], ["ADA", "bob"]],
    ["cost", "", [10], ["ADA"]],
    ["customer_identifier", "contains", ["d"], ["ada"]],
    ["customer_identifier", "contains", ["%_s"], ["percent"]],
    ["customer_identifier", "contains", ["0_s"], []],
    ["customer_identifier", "icontains", ["ÜN"], ["eszett"]],
    ["customer_identifier", "icontains", ["da"], ["ada", "ADA"]],
    ["customer_identifier", "startswith", ["A"], ["ada", "ADA"]],
    ["customer_identifier", "startswith", ["100%"], ["percent"]],
    ["customer_identifier", "endswith", ["ï"], ["eszett"]],
    ["customer_identifier", "endswith", ["b"], ["bob"]],
    ["customer_identifier", "in", ["Ada", "bob", "nobody"], ["ada", "bob"]],
    ["customer_identifier", "isnull", [true], ["none"]],
    ["customer_identifier", "isnull", [false], allBut("none")],
    ["cost", "isnull", [true], ["eszett", "none"]],
    ["cost", "isnull", ["false"], allBut("eszett", "none")],
    ["customer_identifier", "not", ["Ada"], allBut("ada")],
    ["customer_identifier", "not", ["Ada", "bob"], allBut("ada", "bob")],
    ["status_code", "not", [200], ["ADA"]],
    ["prompt_messages", "contains", ['"ünï\n🙂"'], ["none"]],
  ])("%s %j %j", async (field, operator, value, expected) => {
    expect(await found({ [field]: { operator, value } })).toEqual(expected.toSorted());
  });

  test.each<[operator: string, value: unknown[], expected: string[]]>([
    ["=", ["bob"], ["bob"]],
    ["==", ["bob"], ["bob"]],
    ["eq", ["bob"], ["bob"]],
    ["equals", ["bob"], ["bob"]],
    ["IN", ["Ada", "bob"], ["ada", "bob"]],
    ["not_in", ["Ada", "bob"], allBut("ada", "bob")],
    ["not_contains", ["D"], allBut("ADA")],
    ["not_startswith", ["A"], allBut("ada", "ADA")],
    ["not_endswith", ["b"], allBut("bob")],
    ["not_empty", [], allBut("none")],
  ])("the spelling %s is understood too", async (operator, value, expected) => {
    expect(await found({ customer_identifier: { operator, value } })).toEqual(expected.toSorted());
  });
});

describe("shape", () => {
  test.each<[name: string, filters: unknown, expected: string[]]>([
    [
      "several fields must all hold",
      { cost: { operator: "gte", value: [1] }, model: { operator: "", value: ["gpt-4o"] } },
      ["ada"],
    ],
    ["no operator means equal", { customer_identifier: { value: ["bob"] } }, ["bob"]],
    [
      "a list of conditions on one field is a range",
      {
        cost: [
          { operator: "gt", value: [0] },
          { operator: "lt", value: [10] },
        ],
      },
      ["ada", "bob"],
    ],
    ["a value need not be in a list", { cost: { operator: "gt", value: 2 } }, ["ADA", "bob"]],
    ["values alone are equality", { customer_identifier: ["Ada", "bob"] }, ["ada", "bob"]],
    [
      "a connector joins conditions by OR",
      { cost: { operator: "", value: [1] }, model: { operator: "endswith", value: ["mini"], connector: "OR" } },
      ["ada", "bob"],
    ],
    [
      "a bundle joins its conditions",
      { filter_params: { cost: { operator: "", value: [1] }, customer_identifier: ["bob"] }, connector: "OR" },
      ["ada", "bob"],
    ],
    ["an empty object lets everything through", {}, all],
    ["null lets everything through", null, all],
  ])("%s", async (_name, filters, expected) => {
    expect(await found(filters)).toEqual(expected.toSorted());
  });
});

describe("fields", () => {
  test.each<[field: string, condition: unknown, expected: string[]]>([
    ["total_cost", { operator: "gte", value: [2.5] }, ["ADA", "bob"]],
    ["total_tokens", { operator: "", value: [20] }, ["bob"]],
    ["prompt_tokens", { operator: "lt", value: [20] }, ["ada"]],
    ["workflow_name", { operator: "", value: ["billing"] }, ["ADA"]],
    ["span_workflow_name", { operator: "", value: ["billing"] }, ["ADA"]],
    ["environment", { operator: "", value: ["test"] }, ["of test"]],
    ["error_count", { operator: "gt", value: [0] }, ["ADA"]],
    ["status", { operator: "", value: ["error"] }, ["ADA"]],
    ["status", { operator: "", value: ["ERROR"] }, ["ADA"]],
    ["status", { operator: "not", value: ["Ok"] }, ["ADA"]],
    ["status", { operator: "", value: ["failed"] }, ["ADA"]],
    ["log_type", { operator: "", value: ["tool"] }, ["eszett"]],
    ["is_root_span", { operator: "", value: [false] }, []],
    ["metadata__plan", { operator: "", value: ["pro"] }, ["none", "percent"]],
    ["metadata__plan", { operator: "not", value: ["pro"] }, ["ADA", "ada", "bob", "eszett", "of test"]],
    ["metadata__seats", { operator: "gt", value: [5] }, ["eszett"]],
    ["metadata__seats", { operator: "isnull", value: [false] }, ["eszett", "percent"]],
    ["scores__quality", { operator: "gt", value: [0.5] }, []],
    ["scores__quality", { operator: "isnull", value: [true] }, [...all, "of test"]],
  ])("%s %j", async (field, condition, expected) => {
    expect(await found({ [field]: condition }, "environment=all")).toEqual(expected.toSorted());
  });
});

describe("invalid filters are 400 naming the field, never another selection", () => {
  test.each<[field: string, condition: unknown]>([
    ["no_such_field", { operator: "", value: ["x"] }],
    ["trace_idd", { operator: "", value: ["x"] }],
    ["metadata", { operator: "resembles", value: ["x"] }],
    ["cost", { operator: "between", value: [1, 2] }],
    ["cost", { operator: 5, value: [1] }],
    ["cost", { operator: "contains", value: ["1"] }],
    ["cost", { operator: "gt", value: ["many"] }],
    ["cost", { operator: "gt", value: [] }],
    ["cost", { operator: "gt" }],
    ["cost", { operator: "", value: [null] }],
    ["cost", { operator: "", value: [{ a: 1 }] }],
    ["timestamp", { operator: "gt", value: ["yesterday"] }],
    ["model", { operator: "isnull", value: ["perhaps"] }],
    ["model", { value: ["x"], connector: "XOR" }],
    ["metadata__", { operator: "", value: ["x"] }],
    ["organization_id", { operator: "", value: ["x"] }],
    ["1=1 OR model", { operator: "", value: ["x"] }],
    ["constructor", { operator: "", value: ["x"] }],
  ])("%s %j", async (field, condition) => {
    const answer = await prod.post(`${path}?${always}`, { filters: { [field]: condition } });
    expect(answer.status).toBe(400);
    expect(fieldsOf(answer)).toEqual([field]);
    expect(bodyOf(answer)["detail"]).toContain(field);
  });

  test.each(["text", 7, true, ["model"]])("filters as %j", async (filters) => {
    const answer = await prod.post(`${path}?${always}`, { filters });
    expect(answer.status).toBe(400);
    expect(fieldsOf(answer)).toEqual(["filters"]);
  });

  test("an operator is named with its field", async () => {
    const answer = await prod.post(path, { filters: { cost: { operator: "resembles", value: [1] } } });
    expect(bodyOf(answer)["detail"]).toMatch(/resembles.*cost/);
  });

  test.each(["{", "[]", '"text"', "7"])("the body %s", async (body) => {
    expect((await prod.post(path, body)).status).toBe(400);
  });
});

describe("no value escapes from its quotes", () => {
  test.each([
    "' OR 1=1 --",
    "\\' OR 1=1",
    "{x:String}",
    "%",
    "_",
    ".*",
    "\\",
    "`",
    "?",
    "\u0000",
    "'; DROP TABLE spans; --",
  ])("%j finds nothing, and nothing is lost", async (value) => {
    for (const operator of ["", "iexact", "startswith", "in"]) {
      expect(await found({ customer_identifier: { operator, value: [value] } })).toEqual([]);
      expect(await found({ [`metadata__k${value}`]: { operator, value: [value] } })).toEqual([]);
    }
    expect(await found({})).toHaveLength(spans.length);
  });
});

describe("quick filters in the URL", () => {
  test.each<[query: string, expected: string[]]>([
    ["customer_identifier=bob", ["bob"]],
    ["model=gpt-4o&cost=1", ["ada"]],
    ["model=gpt-4o&cost=2.5", []],
    ["customer_identifier=bob&customer_identifier=Ada", ["ada", "bob"]],
    ["cost[value]=2&cost[operator]=gt", ["ADA", "bob"]],
    ["cost%5Bvalue%5D=2&cost%5Boperator%5D=gt", ["ADA", "bob"]],
    ["cost[value]=1&customer_identifier[value]=bob&customer_identifier[connector]=OR", ["ada", "bob"]],
    ["customer_identifier[value]=Ada,bob&customer_identifier[operator]=in", ["ada", "bob"]],
    ["customer_identifier=100%25_sure", ["percent"]],
    ["customer_identifier=STRASSE+%C3%9Cn%C3%AF", ["eszett"]],
    ["metadata__plan=free", ["eszett"]],
    ["plan=pro&seats=5", ["percent"]],
    ["plan=pro&page_size=10&sort_by=cost&include_fields=span_name", ["none", "percent"]],
    ["log_type=tool&plan=free", ["eszett"]],
    ["never_sent=x", []],
  ])("%s, on GET and POST", async (query, expected) => {
    expect(await found({}, `environment=prod&${query}`)).toEqual(expected.toSorted());
    const got = await prod.get(`${path}?${always}&environment=prod&${query}`);
    const names = (got.json as ListAnswer).results.map((row) => String(row["span_name"])).sort();
    expect(names).toEqual(expected.toSorted());
  });

  test("combine with those of the body", async () => {
    expect(await found({ cost: { operator: "gt", value: [1] } }, "plan=pro")).toEqual([]);
    expect(await found({ cost: { operator: "gte", value: [0] } }, "plan=pro")).toEqual(["percent"]);
  });

  test.each([
    ["cost[value]=2&cost[operator]=resembles", "cost"],
    ["cost=many", "cost"],
    ["_secret=x", "metadata___secret"],
  ])("%s is 400 naming %s", async (query, field) => {
    for (const method of ["GET", "POST"]) {
      const answer = await prod.request(method, `${path}?${query}`);
      expect(answer.status).toBe(400);
      expect(fieldsOf(answer)).toEqual([field]);
    }
  });
});

describe("conditions outside of filters", () => {
  test.each([
    ["filter", { filter: { model: ["gpt-4o"] } }],
    ["customer_identifier", { customer_identifier: "bob" }],
    ["metadata__plan", { metadata__plan: "pro" }],
  ])("%s is refused, because it would have no effect", async (name, body) => {
    for (const read of ["list", "summary", "groups"]) {
      const answer = await prod.post(`/api/request-logs/${read}/?${always}&group_by=model`, body);
      expect([read, answer.status, fieldsOf(answer)]).toEqual([read, 400, [name]]);
    }
    for (const list of ["/api/traces/list/", "/api/log_threads/", "/api/users/list/"]) {
      const answer = await prod.post(`${list}?${always}`, body);
      expect([list, answer.status, fieldsOf(answer)]).toEqual([list, 400, [name]]);
    }
  });

  test("a figure of traces too", async () => {
    expect(
      fieldsOf(await prod.post(`/api/traces/list/?${always}`, { total_cost: { operator: "gt", value: [1] } })),
    ).toEqual(["total_cost"]);
  });
});

test.each([
  "/api/request-logs/list/",
  "/api/request-logs/summary/",
  "/api/request-logs/groups/?group_by=model",
  "/api/traces/list/",
  "/api/log_threads/",
  "/api/users/list/",
])("what %s reads in its URL is refused in its body", async (list) => {
  for (const name of ["start_time", "environment", "page_size", "sort_by"]) {
    const answer = await prod.post(list, { filters: {}, [name]: "2026-01-01" });
    expect([name, answer.status, fieldsOf(answer)]).toEqual([name, 400, [name]]);
  }
});

describe("extreme filters", () => {
  test("a long integer finds its value, as a number or as text", async () => {
    const { prod: client } = await app.newOrganization();
    await storeSpans(client, [{ span_name: "long", metadata: { id: 1 } }]);
    await client.post("/api/request-logs/", '{"span_name":"long","metadata":{"id":9007199254740993}}');
    await settle(client);
    for (const value of ["9007199254740993", '"9007199254740993"', "[9007199254740993]"]) {
      const answer = await client.post(`${path}?${always}`, `{"filters":{"metadata__id":${value}}}`);
      expect([value, (answer.json as ListAnswer).count]).toEqual([value, 1]);
    }
  });

  test.each([
    [
      "nests thousands of levels",
      `{"filters":{"model":{"operator":${"[".repeat(20_000)}${"]".repeat(20_000)},"value":["x"]}}}`,
    ],
    ["carries such depth beside the filters", `{"filters":{},"more":${"[".repeat(20_000)}${"]".repeat(20_000)}}`],
  ])("a body that %s is 400", async (_what, body) => {
    expect((await prod.post(`${path}?${always}`, body)).status).toBe(400);
  });

  test("a request may have a few conditions on new messages, in its body and URL together", async () => {
    const conditions = Array.from({ length: domainLimits.newMessagesConditions }, (_, i) => ({
      new_messages: `none ${i}`,
    }));
    const filters = { connector: "OR", filter_params: [{ filter_params: conditions }, { span_name: "bob" }] };
    expect(await found(filters)).toEqual(["bob"]);
    const refused = async (read: string, query: string, body: object) => {
      const answer = await prod.post(`/api/request-logs/${read}/?${always}&${query}`, body);
      expect([read, answer.status, fieldsOf(answer)]).toEqual([read, 400, ["new_messages"]]);
    };
    await refused("list", "new_messages=x", { filters });
    const more = { filters: { among: filters, new_messages: { operator: "not", value: ["x"] } } };
    for (const read of ["list", "summary", "groups"]) await refused(read, "group_by=model", more);
  });

  describe("texts that a request searches for", () => {
    const { filterSearchTexts, filterSearchChars } = filterLimits;
    const texts = (count: number, chars = 10) =>
      Array.from({ length: count }, (_, i) => `${i} `.padEnd(chars, "nowhere "));
    const searches = (count: number, values: string[]) => ({
      connector: "OR",
      filter_params: Array.from({ length: count }, () => ({ any_text: { operator: "icontains", value: values } })),
    });
    const reads = [
      "/api/request-logs/list/",
      "/api/request-logs/summary/",
      "/api/request-logs/groups/?group_by=model",
      "/api/request-logs/facets/?fields=model",
      "/api/request-logs/export/",
      "/api/traces/list/",
      "/api/log_threads/",
      "/api/users/list/",
    ];

    test.each([
      ["texts", searches(9, texts(6)), ""],
      ["characters", searches(1, texts(2, filterSearchChars / 2 + 1)), ""],
      [
        "texts, some of them in the URL",
        searches(8, texts(6)),
        "&output[value]=a&output[value]=b&output[value]=c&output[operator]=contains",
      ],
      ["texts, in negations", { any_text: { operator: "not_contains", value: texts(filterSearchTexts + 1) } }, ""],
    ])("more %s than the bound are 400, which names the field", async (_what, filters, query) => {
      for (const read of reads) {
        const answer = await prod.post(`${read}${read.includes("?") ? "&" : "?"}${always}${query}`, { filters });
        expect([read, answer.status, fieldsOf(answer)]).toEqual([read, 400, ["any_text"]]);
      }
    });

    test("a deletion by more is refused too", async () => {
      const deleted = await prod.post(`/api/traces/bulk/?${always}`, { filters: searches(9, texts(6)) });
      expect([deleted.status, fieldsOf(deleted)]).toEqual([400, ["any_text"]]);
    });

    test("texts up to the limit are found, and equality has no such limit", async () => {
      const filters = searches(5, texts(filterSearchTexts / 5));
      expect(await found({ connector: "OR", filter_params: [filters, { span_name: "bob" }] })).toEqual(["bob"]);
      expect(await found({ span_name: ["bob", ...texts(filterSearchTexts)] })).toEqual(["bob"]);
    });
  });

  test("a filter that is too large for one statement is never a 500", async () => {
    const texts = (letter: string) => Array.from({ length: filterLimits.filterValues }, (_, i) => `${letter}${i}`);
    const filters = {
      metadata__a__b: { operator: "iexact", value: texts("a") },
      metadata__c__d: { operator: "iexact", value: texts("c") },
    };
    expect([200, 413]).toContain((await prod.post(`${path}?${always}`, { filters })).status);
  });
});

test("more include_fields than a span has are refused", async () => {
  const names = Array.from({ length: 201 }, (_, i) => `f${i}`).join(",");
  const answer = await prod.post(`${path}?${always}&include_fields=${names}`);
  expect([answer.status, fieldsOf(answer)]).toEqual([400, ["include_fields"]]);
});
