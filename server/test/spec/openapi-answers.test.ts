import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { bodyOf, createSpan, settle } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { Answer } from "../support/test-client.ts";

/** K19: unusual responses match the document. */

type Json = Record<string, unknown>;
type Response = { content?: Record<string, { schema: Json }> };
type Operation = {
  description?: string;
  responses: Record<string, Response>;
  parameters: Array<{ name: string; description: string }>;
};
type Document = { paths: Record<string, Record<string, Operation>>; components: { schemas: Json } };

let app: TestApp;
let document: Document;
beforeAll(async () => {
  app = await startTestApp();
  document = (await app.prod.get("/openapi.json")).json as Document;
});
afterAll(() => app.stop());

const typeOf = ({ headers }: Answer): string => (headers.get("content-type") ?? "").split(";")[0] ?? "";

/** The documented schema of a response with this status and media type; JSON is checked against it. */
function check(answer: Answer, method: string, path: string): void {
  const documented = document.paths[path]?.[method]?.responses[answer.status]?.content ?? {};
  const type = typeOf(answer);
  expect([path, answer.status, Object.keys(documented)]).toEqual([path, answer.status, expect.arrayContaining([type])]);
  if (type !== "application/json") return;
  const text = JSON.stringify({ ...documented[type]?.schema, $defs: document.components.schemas });
  z.fromJSONSchema(JSON.parse(text.replaceAll('"#/components/schemas/', '"#/$defs/')) as Json).parse(answer.json);
}

test("an operation names every other address once, and not its own", () => {
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, { description = "" }] of Object.entries(operations)) {
      const named = /Also served at (.*)\.$/m.exec(description)?.[1]?.split(", ") ?? [];
      const all = [`\`${method.toUpperCase()} ${path.replace(/\/$/, "")}\``, ...named];
      expect(all).toEqual([...new Set(all)]);
    }
  }
});

test.each([
  ["full", "span_tree"],
  ["slim", "span_tree"],
  ["flat", "spans"],
  ["table", "span_table"],
])("K19: a trace as tree=%s", async (tree, member) => {
  const id = `trace-${tree}`;
  await createSpan(app.prod, { trace_unique_id: id, span_unique_id: "a", input: "q" });
  await createSpan(app.prod, { trace_unique_id: id, span_unique_id: "b", span_parent_id: "a" });
  await settle(app.prod);
  const answer = await app.prod.get(`/api/traces/${id}/?tree=${tree}`);
  expect(answer.status).toBe(200);
  check(answer, "get", "/api/traces/{trace_unique_id}/");
  const members = Object.keys(bodyOf(answer)).filter((name) => ["span_tree", "spans", "span_table"].includes(name));
  expect(members).toEqual([member]);
});

test.each<[status: number, body: Json]>([
  [422, { name: "C", condition_slug: "c", condition_type: "other", condition_policy: { rules: [] } }],
  [400, { name: "", condition_slug: "c", condition_type: "single_log", condition_policy: { rules: [] } }],
  [
    400,
    { name: "C", condition_slug: "c", condition_type: "single_log", condition_policy: { rules: [{ field: "?" }] } },
  ],
  [201, { name: "C", condition_slug: "c", condition_type: "single_log", condition_policy: { rules: [] } }],
  // Its slug is taken.
  [400, { name: "C", condition_slug: "c", condition_type: "single_log", condition_policy: { rules: [] } }],
])("K19: a condition that is answered %d", async (status, body) => {
  const answer = await app.prod.post("/automation/conditions/", body);
  expect(answer.status).toBe(status);
  check(answer, "post", "/automation/conditions/");
});

test.each(["/api/v2/traces", "/api/v1/logs", "/api/v1/metrics"])("K19: %s in protobuf and JSON", async (path) => {
  for (const [type, good] of [
    ["application/x-protobuf", new Uint8Array()],
    ["application/json", '{"resourceSpans":[],"resourceLogs":[]}'],
  ] as const) {
    const answer = await app.prod.post(path, good, { "content-type": type });
    expect([path, type, answer.status, typeOf(answer)]).toEqual([path, type, 200, type]);
    check(answer, "post", path);
    const refused = await app.prod.request("POST", path, good, { "content-type": type, authorization: "Bearer none" });
    expect(typeOf(refused)).toBe(type);
    check(refused, "post", path);
  }
});

test("K19: the header of service parameters documents its maximum size, and is refused beyond", async () => {
  const path = "/api/chat/completions";
  const { parameters } = document.paths[path]!["post"]!;
  const { description } = parameters.find(({ name }) => name === "x-data-svc-params")!;
  const [, bytes] = /at most (\d+) bytes/.exec(description) ?? [];
  const call = (chars: number) => {
    const params = Buffer.from(JSON.stringify({ metadata: { a: "x".repeat(chars) } })).toString("base64");
    const body = { model: "spanway/echo", messages: [{ role: "user", content: "Hi" }] };
    return app.prod.post(path, body, { "x-data-svc-params": params });
  };
  expect((await call(Number(bytes) / 2)).status).toBe(200);
  expect((await call(Number(bytes))).status).toBe(431);
});
