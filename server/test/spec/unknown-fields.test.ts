import { afterAll, beforeAll, expect, test } from "vitest";
import { newAutomation, newCondition, newEvaluator } from "../support/evaluation.ts";
import { bodyOf, createSpan } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { Answer, Row, TestClient } from "../support/test-client.ts";

/** Unknown members of an operation are refused by name, not ignored: customers, automations, webhooks. */

let app: TestApp;
let prod: TestClient;
beforeAll(async () => {
  app = await startTestApp();
  prod = app.prod;
});
afterAll(() => app.stop());

/** Creates one, and returns its path. */
const resources: Record<string, () => Promise<{ collection: string; own: string }>> = {
  customer: async () => {
    await prod.post("/api/users/", { customer_identifier: "ann" });
    return { collection: "/api/users/", own: "/api/users/ann/" };
  },
  webhook: async () => {
    const hook = { url: "https://example.com/hook", name: "Hook", event_type: "request_log" };
    return placed("/api/webhooks/", bodyOf(await prod.post("/api/webhooks/", hook)));
  },
  condition: async () => placed("/api/conditions/", await newCondition(prod)),
  evaluator: async () => placed("/api/evaluators/", await newEvaluator(prod)),
  automation: async () => placed("/api/automations/", await newAutomation(prod)),
  score: async () => {
    const evaluator = await newEvaluator(prod, { type: "human", code_config: null });
    const log = await createSpan(prod, { output: "x" });
    const score = { log_id: log["unique_id"], evaluator_id: evaluator["id"], numerical_value: 1 };
    return placed("/api/scores/", bodyOf(await prod.post("/api/scores/", score)));
  },
};

function placed(collection: string, { id }: Row): { collection: string; own: string } {
  return { collection, own: `${collection}${String(id)}/` };
}

/** The members that a refusal names, by their path. */
function namedIn(answer: Answer): string[] {
  const { errors, ...rest } = bodyOf(answer);
  const paths = (value: unknown, path: string[]): string[] =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.entries(value).flatMap(([name, inner]) => paths(inner, [...path, name]))
      : [path.join(".")];
  return paths(errors ?? rest, []);
}

test.each(Object.keys(resources))("a misspelled member in the body of a %s is named", async (name) => {
  const { collection, own } = await resources[name]!();
  for (const [method, path] of [
    ["PATCH", own],
    ["POST", collection],
  ] as const) {
    const answer = await prod.request(method, path, { naem: "A", perod_budget: 1 });
    expect([method, answer.status]).toEqual([method, 400]);
    expect(namedIn(answer)).toEqual(["naem", "perod_budget"]);
  }
});

const judge = { model: "gpt-4o", evaluator_definition: "{{output}}" };
const nested: ReadonlyArray<readonly [member: string, fields: Row]> = [
  ["llm_config.temprature", { type: "llm", llm_config: { ...judge, temprature: 0 } }],
  ["llm_config.tools", { type: "llm", llm_config: { ...judge, tools: [{ type: "function" }] } }],
  ["llm_config.response_format", { type: "llm", llm_config: { ...judge, response_format: { type: "text" } } }],
  ["code_config.timeout", { code_config: { eval_code_snippet: "function main() {}", timeout: 1 } }],
  ["rule_config.regex", { type: "rule", rule_config: { rule: "regex", pattern: "x", regex: "y" } }],
  ["score_config.minimum", { score_config: { minimum: 1 } }],
  ["score_config.choices.0.label", { score_config: { choices: [{ name: "a", label: "A" }] } }],
  ["configurations.model", { configurations: { model: "gpt-4o" } }],
  ["configurations.model_options.temprature", { configurations: { model_options: { temprature: 0 } } }],
];

test.each(nested)("so is %s within the configuration of an evaluator", async (member, fields) => {
  const code_config = { eval_code_snippet: "function main() { return 1 }" };
  const body = { name: "A", type: "code", score_value_type: "numerical", code_config, ...fields };
  const answer = await prod.post("/api/evaluators/", body);
  expect([answer.status, namedIn(answer)]).toEqual([400, [member]]);
});

test("empty settings of other products' judges are accepted", async () => {
  const llm_config = { ...judge, tools: [], tool_choice: "", response_format: null };
  expect(await newEvaluator(prod, { type: "llm", code_config: null, llm_config })).toMatchObject({ llm_config: judge });
});

test.each([
  ["run/", { inputs: {}, input: { output: "x" } }, "input"],
  ["run/", { inputs: { output: "x", ouput: "y" } }, "inputs.ouput"],
  ["run/", { inputs: {}, generation_method: "llm" }, "generation_method"],
  ["versions/", { description: "first" }, "description"],
])("so is a member of a body of evaluators/{id}/%s: %j", async (route, body, member) => {
  const { id } = await newEvaluator(prod);
  const answer = await prod.post(`/api/evaluators/${String(id)}/${route}`, body);
  expect([answer.status, namedIn(answer)]).toEqual([400, [member]]);
});

test.each(["/api/evaluators/list/", "/api/scores/list/"])(
  "so are filters in the body of POST %s, which supports none",
  async (list) => {
    for (const body of [{}, { filters: {} }]) expect((await prod.post(list, body)).status).toBe(200);
    const answer = await prod.post(list, { filters: { type: { operator: "", value: ["llm"] } } });
    expect([answer.status, namedIn(answer)]).toEqual([400, ["filters.type"]]);
  },
);

test.each<Row>([{ rules: [], conector: "OR" }, { rules: [{ field: "cost", operator: "equals", value: 1, vlaue: 2 }] }])(
  "so is a member of the policy of a condition: %j",
  async (condition_policy) => {
    const { id } = await newCondition(prod);
    const answer = await prod.request("PATCH", `/api/conditions/${String(id)}/`, { condition_policy });
    expect(answer).toMatchObject({
      status: 400,
      json: { condition_policy: [expect.stringMatching(/conector|vlaue/)] },
    });
  },
);

test.each(Object.keys(resources))("a retrieved %s can be sent back", async (name) => {
  const { own } = await resources[name]!();
  const read = bodyOf(await prod.get(own));
  // Members that belong to another route, or have another meaning when sent.
  const { condition: _condition, ...sent } = read;
  const answer = await prod.request("PATCH", own, sent);
  expect([answer.status, answer.text.slice(0, answer.status === 200 ? 0 : 200)]).toEqual([200, ""]);
});

test("an unknown member of a span is named in the response, and ignored", async () => {
  const { warnings } = await createSpan(prod, { modl: "gpt-4o", prompt_token: 5, model: "m" });
  expect(warnings).toEqual([
    "modl is not a field of spans and was passed over",
    "prompt_token is not a field of spans and was passed over",
  ]);
  const known = {
    environment: "prod",
    unique_id: "x",
    ttft: 1,
    svc_params: { anything: 1 },
    foo: null,
    is_test: false,
  };
  expect(await createSpan(prod, known)).not.toHaveProperty("warnings");
  const bulk = await prod.post("/api/request-logs/bulk/", { logs: [{ modl: 1 }, { modl: 2, latncy: 1 }, {}] });
  expect(bodyOf(bulk)).toMatchObject({
    success_count: 3,
    warnings: [expect.stringContaining("modl"), expect.stringContaining("latncy")],
  });
  const ingest = await prod.post("/api/v1/traces/ingest", [
    { trace_id: "t", span_name: "s" },
    { trace_unique_id: "t" },
  ]);
  expect(bodyOf(ingest)).toMatchObject({ ingested_spans: 2, warnings: [expect.stringContaining("trace_id")] });
});
