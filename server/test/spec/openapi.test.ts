import { readFileSync } from "node:fs";
import { Validator } from "@seriousme/openapi-schema-validator";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { startTestApp, testKeys, type TestApp } from "../support/test-app.ts";
import type { Answer, TestClient } from "../support/test-client.ts";
import { bodyOf, createSpan, retrieveSpan } from "../support/spans.ts";

const textOf = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");

type Json = Record<string, unknown>;
type Operation = {
  operationId: string;
  description: string;
  responses: Record<string, { content?: Record<string, { schema: Json }>; headers?: Json }>;
  parameters: Array<{ name: string; schema: Json }>;
  security: Json[];
  requestBody?: { content: Record<string, { schema: Json; example?: Json }> };
};
type Document = { paths: Record<string, Record<string, Operation>>; components: { schemas: Json } };

let app: TestApp;
let prod: TestClient;
let document: Document;
beforeAll(async () => {
  app = await startTestApp();
  ({ prod } = app);
  document = (await prod.get("/openapi.json")).json as Document;
});
afterAll(() => app.stop());

test("the document is valid OpenAPI 3.1, and public", async () => {
  const answer = await fetch(`${app.url}/openapi.json`);
  expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8");
  const read = (await answer.json()) as Json;
  expect(read).toMatchObject({ openapi: "3.1.0", info: { title: "Spanway" } });
  expect(await new Validator().validate(read)).toMatchObject({ valid: true });
});

test("F4: the version is the same everywhere", async () => {
  const { version } = (document as unknown as { info: { version: string } }).info;
  for (const path of ["package.json", "server/package.json", "web/package.json", "package-lock.json"])
    expect(JSON.parse(textOf(path))).toMatchObject({ version });
  const { packages } = JSON.parse(textOf("package-lock.json")) as { packages: Record<string, Json> };
  for (const path of ["", "server", "web"]) expect([path, packages[path]?.["version"]]).toEqual([path, version]);
  const metrics = await (await fetch(`${app.url}/metrics`)).text();
  expect(metrics).toContain(`\nspanway_build_info{version="${version}"} 1\n`);
  expect(textOf("README.md")).toContain(`Version ${version}.`);
});

describe("every route is documented", () => {
  test.each([
    ["post", "/api/request-logs/", "create_span", ["/api/request-logs/create"]],
    ["post", "/api/request-logs/bulk/", "bulk_create_spans", []],
    ["post", "/api/request-logs/list/", "list_spans", ["GET /api/request-logs/list"]],
    ["get", "/api/request-logs/list/", "list_spans_by_get", []],
    ["get", "/api/request-logs/summary/", "summarize_spans_by_get", []],
    ["get", "/api/request-logs/groups/", "group_spans_by_get", []],
    ["get", "/api/request-logs/{unique_id}/", "retrieve_span", []],
    ["post", "/api/request-logs/summary/", "summarize_spans", ["GET /api/request-logs/summary"]],
    ["post", "/api/request-logs/groups/", "group_spans", ["GET /api/request-logs/groups"]],
    ["post", "/api/auth/login/", "login", []],
    ["post", "/api/auth/refresh/", "refresh", []],
    ["get", "/api/auth/me/", "get_me", []],
    ["get", "/api/api-keys/", "list_api_keys", []],
    ["post", "/api/api-keys/", "create_api_key", []],
    ["delete", "/api/api-keys/{id}/", "delete_api_key", []],
    ["post", "/api/temporary-keys/", "create_temporary_key", []],
    ["post", "/api/organizations/", "create_organization", []],
    ["post", "/automation/automations/", "create_automation", []],
    ["delete", "/automation/automations/{automation_id}/", "delete_automation", []],
    ["get", "/automation/automations/", "list_automations", []],
    ["get", "/automation/automations/{automation_id}/", "retrieve_automation", []],
    ["patch", "/automation/automations/{automation_id}/", "update_automation", []],
    ["post", "/automation/conditions/", "create_condition", []],
    ["delete", "/automation/conditions/{condition_id}/", "delete_condition", []],
    ["get", "/automation/conditions/", "list_conditions", []],
    ["get", "/automation/conditions/{condition_id}/", "retrieve_condition", []],
    ["patch", "/automation/conditions/{condition_id}/", "update_condition", []],
    ["post", "/api/evaluators/", "create_evaluator", []],
    ["delete", "/api/evaluators/{evaluator_id}/", "delete_evaluator", []],
    ["get", "/api/evaluators/{evaluator_id}/versions/{version}/", "retrieve_evaluator_version", []],
    ["get", "/api/evaluators/", "list_evaluators", []],
    ["get", "/api/evaluators/{evaluator_id}/", "retrieve_evaluator", []],
    ["post", "/api/evaluators/{evaluator_id}/run/", "run_evaluator", []],
    ["post", "/api/scores/", "create_score", []],
    ["post", "/api/logs/{log_id}/scores/", "create_log_score", []],
    ["get", "/api/scores/", "list_scores", ["POST /api/scores/list"]],
    ["get", "/api/scores/{score_id}/", "retrieve_score", []],
    ["patch", "/api/scores/{score_id}/", "update_score", []],
    ["put", "/api/scores/{score_id}/", "replace_score", []],
    ["delete", "/api/scores/{score_id}/", "delete_score", []],
    ["get", "/api/logs/{log_id}/scores/", "list_log_scores", []],
    ["get", "/api/logs/{log_id}/scores/{score_id}/", "retrieve_log_score", []],
    ["patch", "/api/logs/{log_id}/scores/{score_id}/", "update_log_score", []],
    ["put", "/api/logs/{log_id}/scores/{score_id}/", "replace_log_score", []],
    ["delete", "/api/logs/{log_id}/scores/{score_id}/", "delete_log_score", []],
    ["patch", "/api/evaluators/{evaluator_id}/", "update_evaluator", []],
    ["put", "/api/evaluators/{evaluator_id}/", "replace_evaluator", []],
    ["get", "/api/evaluators/{evaluator_id}/versions/", "list_evaluator_versions", []],
    ["post", "/api/evaluators/{evaluator_id}/versions/", "create_evaluator_version", []],
    ["get", "/livez", "get_livez", []],
    ["get", "/readyz", "get_readyz", []],
    ["get", "/metrics", "get_metrics", []],
    ["get", "/docs", "get_docs", []],
    ["get", "/openapi.json", "get_openapi", []],
  ])("%s %s", (method, path, id, aliases) => {
    const operation = document.paths[path]?.[method];
    expect(operation?.operationId).toBe(id);
    for (const alias of aliases) expect(operation?.description).toContain(alias);
  });

  test.each([
    ["/api/request-logs/", "post", ["201", "400", "401", "422", "500"]],
    ["/api/request-logs/bulk/", "post", ["201", "400", "401", "403", "422", "429"]],
    ["/api/request-logs/list/", "post", ["200", "400", "401", "413", "500"]],
    ["/api/request-logs/{unique_id}/", "get", ["200", "401", "404", "500"]],
    ["/api/request-logs/summary/", "post", ["200", "400", "401", "413", "500"]],
    ["/api/request-logs/groups/", "post", ["200", "400", "401", "403"]],
    ["/api/traces/list/", "post", ["200", "400", "401", "413", "429", "500"]],
    ["/api/traces/{trace_unique_id}/", "get", ["200", "401", "404", "429", "500"]],
    ["/api/traces/{trace_unique_id}/", "delete", ["200", "401", "500"]],
    ["/api/traces/{trace_unique_id}/", "patch", ["200", "400", "401"]],
    ["/api/{unique_organization_id}/traces/{trace_unique_id}/", "get", ["200", "404", "429"]],
    ["/api/traces/bulk/", "post", ["200", "400", "401", "403", "422", "429", "500"]],
    ["/api/v1/traces/ingest", "post", ["200", "400", "401", "500"]],
    ["/api/v2/traces", "post", ["200", "400", "401"]],
    ["/api/log_threads/", "post", ["200", "401", "413"]],
  ])("%s documents the statuses of the interface", (path, method, statuses) => {
    expect(Object.keys(document.paths[path]?.[method]?.responses ?? {})).toEqual(expect.arrayContaining(statuses));
  });

  test("operations have unique ids, and a GET has no body", () => {
    const operations = Object.values(document.paths).flatMap((methods) => Object.entries(methods));
    const ids = operations.map(([, { operationId }]) => operationId);
    expect(ids.length).toBe(new Set(ids).size);
    const gets = operations.filter(([method]) => method === "get").map(([, operation]) => operation);
    expect(gets.filter((operation) => "requestBody" in operation)).toEqual([]);
  });

  test("groups document that group_by is required, and its values", () => {
    for (const method of ["get", "post"]) {
      const { parameters = [] } = document.paths["/api/request-logs/groups/"]?.[method] ?? {};
      const groupBy = parameters.find(({ name }) => name === "group_by");
      expect(groupBy).toMatchObject({
        required: true,
        schema: { examples: expect.arrayContaining(["model", "trace"]) },
      });
    }
  });

  test("the list documents its query, with defaults and bounds", () => {
    const { parameters = [] } = document.paths["/api/request-logs/list/"]?.["post"] ?? {};
    const schemas = Object.fromEntries(parameters.map(({ name, schema }) => [name, schema]));
    expect(Object.keys(schemas)).toEqual(
      expect.arrayContaining([
        "page",
        "page_size",
        "sort_by",
        "start_time",
        "end_time",
        "environment",
        "log_type",
        "include_fields",
      ]),
    );
    expect(schemas["page_size"]).toMatchObject({ type: "integer", minimum: 1, maximum: 1000, default: 50 });
    expect(schemas["sort_by"]).toMatchObject({ default: "-timestamp" });
  });

  test("bulk create accepts a key or an access token, the other span routes only a key", () => {
    const security = (path: string, method: string) => document.paths[path]?.[method]?.security;
    expect(security("/api/request-logs/bulk/", "post")).toEqual([{ key: [] }, { user: [] }, { session: [] }]);
    expect(security("/api/request-logs/", "post")).toEqual([{ key: [] }, { session: [] }]);
    expect(security("/api/request-logs/list/", "post")).toEqual([{ key: [] }, { session: [] }]);
  });
});

/** Throws if a response differs from the documented schema of this operation and status. */
function checkAnswer(answer: Answer, method: string, path: string): void {
  const response = document.paths[path]?.[method]?.responses[answer.status];
  if (response === undefined) throw new Error(`${method} ${path} does not document the status ${answer.status}`);
  const schema = response.content?.["application/json"]?.schema;
  if (schema === undefined) throw new Error(`${method} ${path} documents no body for the status ${answer.status}`);
  const text = JSON.stringify({ ...schema, $defs: document.components.schemas });
  const local = JSON.parse(text.replaceAll('"#/components/schemas/', '"#/$defs/')) as Json;
  z.fromJSONSchema(local).parse(answer.json);
}

describe("the gateway's operations", () => {
  const paths = ["/api/chat/completions", "/api/embeddings", "/api/responses", "/api/audio/transcription"];

  test.each(paths)("%s: every status with its body, and the headers of requests and answers", (path) => {
    const { responses, parameters } = document.paths[path]!["post"]!;
    expect(Object.keys(responses)).toEqual(["200", "400", "401", "403", "413", "415", "424", "429", "500", "503"]);
    const { "200": _success, ...errors } = responses;
    for (const { content } of Object.values(errors)) {
      expect(content).toEqual({ "application/json": { schema: { $ref: "#/components/schemas/OpenAiError" } } });
    }
    for (const { headers = {} } of Object.values(responses)) {
      expect(Object.keys(headers)).toEqual(
        expect.arrayContaining(["x-request-id", "x-spanway-log-id", "x-spanway-cache"]),
      );
    }
    expect(parameters.map(({ name }) => name)).toEqual(["x-data-svc-params", "x-svc-route-provider", "x-svc-beta"]);
  });

  /** The schema of a member of a body, from the document. */
  const memberOf = (path: string, member: string): z.ZodType => {
    const { requestBody } = document.paths[path]!["post"] as unknown as {
      requestBody: { content: Record<string, { schema: { $ref: string } }> };
    };
    const [content] = Object.values(requestBody.content);
    const schemas = document.components.schemas as Record<string, { properties: Record<string, Json> }>;
    const property = schemas[content!.schema.$ref.split("/").at(-1)!]?.properties[member];
    if (property === undefined) throw new Error(`${path} does not document ${member}`);
    return z.fromJSONSchema(property);
  };

  // Values that the document allows are accepted, others are 400: both come from one table.
  test.each<[member: string, good: unknown, bad: unknown]>([
    ["fallback_models", ["spanway/echo"], "spanway/echo"],
    ["retries", 3, 101],
    ["retries", 0, 0.5],
    ["retry_params", { retry_enabled: true, num_retries: 1 }, { retry_enabled: true, patience: 1 }],
    ["retry_params", { retry_enabled: false }, {}],
    ["cache_ttl", 0, -1],
    ["cache_options", { omit_log: true }, { omit_log: "yes" }],
    ["load_balance_models", [{ model: "spanway/echo", weight: 2 }], [{ weight: 2 }]],
    ["customer_credentials", { openai: { api_key: "sk-x" } }, "sk-x"],
    ["model_name_map", { a: "b" }, { a: 1 }],
    ["disable_log", true, "true"],
    ["thread_identifier", "t", "t".repeat(255)],
    ["metadata", { a: [1] }, []],
  ])("%s is taken as documented: %j, not %j", async (member, good, bad) => {
    const statusOf = async (value: unknown) => {
      const messages = [{ role: "user", content: "Hi" }];
      return (await prod.post("/api/chat/completions", { model: "spanway/echo", messages, [member]: value })).status;
    };
    for (const path of paths) {
      if (path.includes("audio") && member === "metadata") continue;
      expect([path, memberOf(path, member).safeParse(good).success]).toEqual([path, true]);
      expect([path, memberOf(path, member).safeParse(bad).success]).toEqual([path, false]);
    }
    expect([await statusOf(good), await statusOf(bad)]).toEqual([200, 400]);
  });

  test("refused calls match the document", async () => {
    const path = "/api/chat/completions";
    for (const body of [
      "{",
      { model: "spanway/echo", messages: [] },
      { model: "groq/x", messages: [{ role: "user" }] },
    ]) {
      const answer = await prod.post(path, body);
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(() => checkAnswer(answer, "post", path)).not.toThrow();
    }
  });
});

describe("responses match the document", () => {
  const full = {
    model: "gpt-4o",
    prompt_messages: [{ role: "user", content: "Hi" }],
    completion_message: { role: "assistant", content: "Hello" },
    prompt_tokens: 5,
    completion_tokens: 3,
    latency: 0.5,
    metadata: { a: 1 },
  };
  beforeAll(async () => {
    await retrieveSpan(prod, (await createSpan(prod, {}))["unique_id"]);
    await retrieveSpan(prod, (await createSpan(prod, full))["unique_id"]);
  });

  test.each<[method: "get" | "post", path: string, query: string, body: unknown, status: number]>([
    ["post", "/api/request-logs/", "", {}, 201],
    ["post", "/api/request-logs/", "", full, 201],
    ["post", "/api/request-logs/", "", { model: 1 }, 422],
    ["post", "/api/request-logs/", "", "{", 400],
    ["post", "/api/request-logs/bulk/", "", { logs: [full, 1] }, 201],
    ["post", "/api/request-logs/bulk/", "", { logs: [] }, 400],
    ["post", "/api/request-logs/bulk/", "", { logs: [1] }, 400],
    ["post", "/api/request-logs/list/", "", {}, 200],
    ["post", "/api/request-logs/list/", "?page_size=1", {}, 200],
    ["post", "/api/request-logs/list/", "?include_fields=cost", {}, 200],
    ["post", "/api/request-logs/list/", "?page=0", {}, 400],
    ["post", "/api/request-logs/summary/", "", {}, 200],
    ["post", "/api/request-logs/groups/", "?group_by=model", {}, 200],
    ["post", "/api/request-logs/groups/", "?group_by=trace", {}, 200],
    ["post", "/api/request-logs/groups/", "?group_by=x", {}, 400],
    ["get", "/livez", "", undefined, 200],
    ["get", "/readyz", "", undefined, 200],
  ])("%s %s%s %j is %d", async (method, path, query, body, status) => {
    const answer = await prod.request(method.toUpperCase(), path + query, body);
    expect(answer.status).toBe(status);
    expect(() => checkAnswer(answer, method, path)).not.toThrow();
  });

  test("retrieve, found and not", async () => {
    for (const body of [{}, full]) {
      const { unique_id } = await createSpan(prod, body);
      await retrieveSpan(prod, unique_id);
      const path = "/api/request-logs/{unique_id}/";
      checkAnswer(await prod.get(`/api/request-logs/${String(unique_id)}/`), "get", path);
    }
    const missing = await prod.get("/api/request-logs/nothing/");
    expect(() => checkAnswer(missing, "get", "/api/request-logs/{unique_id}/")).not.toThrow();
  });

  test("the check itself detects errors", async () => {
    const answer = await prod.post("/api/request-logs/", {});
    const wrong = { ...answer, json: { ...bodyOf(answer), unique_id: 7 } };
    expect(() => checkAnswer(wrong, "post", "/api/request-logs/")).toThrow("unique_id");
    expect(() => checkAnswer({ ...answer, status: 418 }, "post", "/api/request-logs/")).toThrow("418");
  });
});

describe("the examples of the document", () => {
  type Example = {
    method: string;
    path: string;
    id: string;
    isForPeople: boolean;
    isForm: boolean;
    query: string;
    body: Json;
  };

  /** Operations that create something come before those that use it. */
  const steps = ["login", "create_evaluator", "POST", "POST {}", "PATCH {}", "PUT {}"];
  const stepOf = ({ id, method, path }: Example) =>
    steps.indexOf(steps.includes(id) ? id : method + (path.includes("{") ? " {}" : ""));

  const examples = (): Example[] =>
    Object.entries(document.paths)
      .flatMap(([path, operations]) =>
        Object.entries(operations).flatMap(([method, { operationId: id, requestBody, security, parameters }]) => {
          if (requestBody === undefined) return [];
          const { "application/json": json, "multipart/form-data": form } = requestBody.content;
          const body = (json ?? form)?.example ?? {};
          const needed = parameters.filter((parameter) => "required" in parameter && parameter.required === true);
          const query = needed.flatMap(({ name, schema }) =>
            [schema["enum"], schema["examples"]].flatMap((values) =>
              Array.isArray(values) ? [`${name}=${String(values[0])}`] : [],
            ),
          );
          const isForPeople = security.length > 0 && security.every((scheme) => !("key" in scheme));
          const isForm = form !== undefined;
          return [{ method: method.toUpperCase(), path, id, isForPeople, isForm, query: `?${query.join("&")}`, body }];
        }),
      )
      .toSorted((a, b) => stepOf(a) - stepOf(b));

  const send = (url: string, { method, body, isForm }: Example, token: string): Promise<Response> => {
    const authorization = `Bearer ${token}`;
    const headers = { authorization, "content-type": "application/json" };
    if (!isForm) return fetch(app.url + url, { method, headers, body: JSON.stringify(body) });
    const form = new FormData();
    for (const [name, value] of Object.entries(body)) {
      const text = String(value);
      form.set(name, text.startsWith("@") ? new File(["sound"], text.slice(1)) : text);
    }
    return fetch(app.url + url, { method, headers: { authorization }, body: form });
  };

  /** Operations that need an id that the document cannot know, or a provider's key that this server does not have. */
  const notTaken: Record<string, number> = {
    create_score: 404,
    bulk_update_spans: 400,
    refresh: 401,
    logout: 401,
    change_password: 400,
    // Its invitation has been accepted by then.
    update_member: 404,
    create_transcription: 424,
    create_embeddings: 424,
    create_response: 424,
    create_message: 502,
    count_tokens: 502,
  };

  test("are accepted unchanged", async () => {
    const made: Record<string, Json> = {};
    const makerOf: Record<string, string> = {
      webhooks: "create_webhook",
      alerts: "create_alert",
      "saved-views": "create_saved_view",
      providers: "create_provider",
      "model-prices": "create_model_price",
      "api-keys": "create_api_key",
      members: "invite_member",
    };
    const idFor: Record<string, (path: string) => unknown> = {
      id: (path) => made[makerOf[path.split("/")[2] ?? ""] ?? ""]?.["id"],
      token: () => made["invite_member"]?.["invite_token"],
      log_id: () => made["create_span"]?.["unique_id"],
      unique_id: () => made["create_span"]?.["unique_id"],
      score_id: () => made["create_log_score"]?.["id"],
      unique_organization_id: () => made["create_organization"]?.["unique_organization_id"],
      evaluator_id: () => "helpfulness",
      condition_id: () => "dear-answers",
      automation_id: () => "judge-dear-answers",
      customer_identifier: () => "globex",
      trace_unique_id: () => "4bf92f3577b34da6a3ce929d0e0e4736",
    };
    for (const example of examples()) {
      const { id, path, query, isForPeople } = example;
      const url = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => String(idFor[name]?.(path))) + query;
      const answer = await send(url, example, isForPeople ? String(made["login"]?.["access"]) : testKeys.prod);
      const text = await answer.text();
      const status = answer.ok ? "taken" : answer.status;
      expect([id, status, text]).toEqual([id, notTaken[id] ?? "taken", text]);
      // Exports are files.
      made[id] = answer.headers.has("content-disposition") ? {} : (JSON.parse(text) as Json);
    }
    expect(Object.keys(made).length).toBeGreaterThan(40);
  });

  test("exist for every body that is JSON or a form", () => {
    for (const { id, body } of examples()) expect([id, Object.keys(body).length > 0]).toEqual([id, true]);
  });
});
