import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newAutomation, newEvaluator } from "../support/evaluation.ts";
import { bodyOf } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import { createClient, type ListAnswer, type Row, type TestClient } from "../support/test-client.ts";

let app: TestApp;
let prod: TestClient;
beforeAll(async () => {
  app = await startTestApp();
  ({ prod } = await app.newOrganization());
});
afterAll(() => app.stop());

const path = "/api/evaluators/";
const judge = { model: "gpt-4o-mini", evaluator_definition: "Is {{output}} polite?" };
const code = { eval_code_snippet: "const main = () => 1" };

describe("an evaluator", () => {
  test("is returned with its definition and as the changeable version", async () => {
    const sent = { name: "Politeness", type: "llm", score_value_type: "boolean", llm_config: judge };
    const answer = await prod.post(path, sent);
    expect(answer.status).toBe(201);
    expect(answer.json).toEqual({
      ...sent,
      id: expect.any(String),
      evaluator_slug: expect.stringMatching(/^politeness-\w+$/),
      eval_class: "svc_custom_evaluator",
      description: "",
      score_config: {},
      passing_conditions: null,
      code_config: null,
      rule_config: null,
      tags: [],
      starred: false,
      version: 0,
      version_id: bodyOf(answer)["id"],
      version_description: "",
      is_read_only: false,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    const { id, evaluator_slug: slug } = bodyOf(answer);
    for (const name of [id, slug]) expect((await prod.get(`${path}${String(name)}/`)).json).toEqual(answer.json);
  });

  test.each([
    ["human", {}, "svc_custom_evaluator"],
    ["code", { code_config: code }, "custom_code"],
    ["rule", { rule_config: { rule: "regex", pattern: "^a" }, score_value_type: "boolean" }, "svc_custom_evaluator"],
  ])("may be of the type %s", async (type, fields, eval_class) => {
    expect(await newEvaluator(prod, { type, code_config: null, ...fields })).toMatchObject({ type, eval_class });
  });

  test.each(["numerical", "boolean", "percentage", "single_select", "multi_select", "json", "text"])(
    "may score %s",
    async (score_value_type) => {
      const score_config = { choices: [{ name: "good", value: 1 }, { name: "bad" }] };
      expect(await newEvaluator(prod, { type: "human", score_value_type, score_config })).toMatchObject({
        score_value_type,
      });
    },
  );

  test.each([
    ["categorical", "single_select"],
    ["comment", "text"],
  ])("may name its scores %s as before", async (older, score_value_type) => {
    const evaluator = await newEvaluator(prod, {
      type: "human",
      score_value_type: older,
      categorical_choices: [{ name: "a", value: 1 }],
    });
    expect(evaluator).toMatchObject({ score_value_type, score_config: { choices: [{ name: "a", value: 1 }] } });
  });

  test("may be configured in the older form", async () => {
    const configurations = {
      evaluator_definition: "Judge {{llm_output}}",
      llm_engine: "gpt-4o",
      model_options: { temperature: 0.1 },
      min_score: 1,
      max_score: 5,
      passing_score: 3,
    };
    expect(await newEvaluator(prod, { type: "llm", code_config: null, configurations })).toMatchObject({
      llm_config: { model: "gpt-4o", evaluator_definition: "Judge {{llm_output}}", temperature: 0.1 },
      score_config: { min_score: 1, max_score: 5 },
      passing_conditions: { primary_score: { operator: "gte", value: 3 } },
    });
  });

  test.each<[what: string, fields: Row, field: string]>([
    ["without a name", { name: "" }, "name"],
    ["of an unknown type", { type: "oracle" }, "type"],
    ["of an unknown value type", { score_value_type: "stars" }, "score_value_type"],
    ["that is a model without a prompt", { type: "llm" }, "llm_config"],
    [
      "whose prompt names what no log has",
      { type: "llm", llm_config: { ...judge, evaluator_definition: "Rate {{ouput}} of {{input}}" } },
      "llm_config",
    ],
    [
      "whose rubric does",
      { type: "llm", llm_config: { ...judge, scoring_rubric: "1: {{output.text}} {{metadata.x}}" } },
      "llm_config",
    ],
    ["that is code without code", { code_config: null }, "code_config"],
    ["that is Python", { code_config: { eval_code_snippet: "def main(eval_inputs):\n    return 1" } }, "code_config"],
    ["that says it is Python", { code_config: { ...code, language: "python" } }, "code_config"],
    ["that is a rule without one", { type: "rule", score_value_type: "boolean" }, "rule_config"],
    [
      "whose rule gives something else",
      { type: "rule", rule_config: { rule: "regex", pattern: "a" } },
      "score_value_type",
    ],
    ["that chooses from nothing", { score_value_type: "single_select" }, "score_config"],
    ["with an empty scale", { score_config: { min_score: 5, max_score: 1 } }, "score_config"],
    [
      "with conditions that are none",
      { passing_conditions: { other: { operator: "gt", value: 1 } } },
      "passing_conditions",
    ],
    ["of an unknown class", { eval_class: "other" }, "eval_class"],
    ...[".", "..", "list", "a b", "3f2b8c1e-9d4a-4e6b-8a7c-5d1e2f3a4b5c", "3F2B8C1E-9D4A-4E6B-8A7C-5D1E2F3A4B5C"].map(
      (evaluator_slug): [string, Row, string] => [`called ${evaluator_slug}`, { evaluator_slug }, "evaluator_slug"],
    ),
  ])("%s is refused", async (_what, fields, field) => {
    const answer = await prod.post(path, {
      name: "x",
      type: "code",
      score_value_type: "numerical",
      code_config: code,
      ...fields,
    });
    expect(answer.status).toBe(400);
    expect(Object.keys(bodyOf(answer))).toEqual([field]);
  });

  test("is changed in part by PATCH and as a whole by PUT", async () => {
    const made = await newEvaluator(prod, { tags: ["a"], starred: true });
    const one = `${path}${String(made["id"])}/`;
    const patched = await prod.request("PATCH", one, { description: "Changed", code_config: code });
    expect(patched.json).toEqual({
      ...made,
      description: "Changed",
      code_config: code,
      updated_at: expect.any(String),
    });
    expect((await prod.request("PATCH", one, { code_config: null })).status).toBe(400);
    const put = await prod.request("PUT", one, { name: "New", type: "human", score_value_type: "text" });
    expect(put.json).toMatchObject({
      id: made["id"],
      evaluator_slug: made["evaluator_slug"],
      name: "New",
      description: "",
      tags: [],
      starred: false,
      code_config: null,
    });
    expect((await prod.request("PUT", one, { name: "New" })).status).toBe(400);
    expect((await prod.get(one)).json).toEqual(put.json);
  });

  test("has frozen versions", async () => {
    const made = await newEvaluator(prod, { name: "First" });
    const versions = `${path}${String(made["id"])}/versions/`;
    const frozen = await prod.post(versions, { version_description: "As it began" });
    expect(frozen.status).toBe(201);
    expect(frozen.json).toMatchObject({
      id: made["id"],
      version: 1,
      is_read_only: true,
      name: "First",
      version_description: "As it began",
    });
    await prod.request("PATCH", `${path}${String(made["id"])}/`, { name: "Second" });
    await prod.post(versions, {});
    expect((await prod.get(versions)).json).toMatchObject({
      count: 2,
      results: [
        { version: 2, name: "Second" },
        { version: 1, name: "First" },
      ],
    });
    expect((await prod.get(`${versions}1/`)).json).toEqual(frozen.json);
    expect((await prod.get(`${versions}3/`)).status).toBe(404);
    expect((await prod.get(`${path}${String(made["id"])}/`)).json).toMatchObject({ version: 0, name: "Second" });
  });

  test("is deleted, unless an automation uses it", async () => {
    const [unused, used] = [await newEvaluator(prod), await newEvaluator(prod)];
    await newAutomation(prod, { name: "Uses it", evaluator_ids: [used["id"]] });
    expect((await prod.request("DELETE", `${path}${String(unused["id"])}/`)).status).toBe(204);
    expect((await prod.get(`${path}${String(unused["id"])}/`)).status).toBe(404);
    const refused = await prod.request("DELETE", `${path}${String(used["id"])}/`);
    expect(refused).toMatchObject({ status: 409, json: { detail: expect.stringContaining("Uses it") } });
  });
});

test("evaluators are listed and searched, by GET and by POST list/", async () => {
  const { prod: client } = await app.newOrganization();
  await newEvaluator(client, { name: "Alpha", tags: ["x", "y"], starred: true });
  await newEvaluator(client, { name: "Beta", type: "human", score_value_type: "text", evaluator_slug: "second" });
  const names = async (query: string) => {
    const [get, post] = await Promise.all([client.get(`${path}?${query}`), client.post(`${path}list/?${query}`)]);
    expect(post.json).toMatchObject({ results: (get.json as ListAnswer).results });
    return (get.json as ListAnswer).results.map(({ name }) => name);
  };
  expect(await names("")).toEqual(["Beta", "Alpha"]);
  expect(await names("search=ALPH")).toEqual(["Alpha"]);
  expect(await names("search=second")).toEqual(["Beta"]);
  expect(await names("type=human")).toEqual(["Beta"]);
  expect(await names("score_value_type=numerical")).toEqual(["Alpha"]);
  expect(await names("starred=true")).toEqual(["Alpha"]);
  expect(await names("tags=y,x")).toEqual(["Alpha"]);
  expect(await names("tags=z")).toEqual([]);
  expect(await names("page_size=1&page=2")).toEqual(["Alpha"]);
});

test("evaluators are for API keys of their own organization", async () => {
  const made = await newEvaluator(prod);
  const one = `${path}${String(made["id"])}/`;
  expect((await createClient(app.url).get(path)).status).toBe(401);
  expect((await (await app.login()).get(path)).status).toBe(401);
  const { prod: other } = await app.newOrganization();
  for (const [method, route] of [
    ["GET", one],
    ["PATCH", one],
    ["DELETE", one],
    ["GET", `${one}versions/`],
    ["POST", `${one}versions/`],
  ] as const) {
    expect([method, (await other.request(method, route, method === "GET" ? undefined : {})).status]).toEqual([
      method,
      404,
    ]);
  }
});
