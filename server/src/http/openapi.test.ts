import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { endpoint, type AnyEndpoint } from "./endpoint.ts";
import { openapiDocument } from "./openapi.ts";
import { pageOf } from "./pagination.ts";
import { environmentQuery, includeFieldsQuery, pagingQuery, sortQuery, timeWindowQuery } from "./query.ts";

const node = z.object({
  name: z.string(),
  get children() {
    return z.array(node);
  },
});
const named = z.object({ a: z.int() }).meta({ id: "Named" });

const shared = { tags: ["Demo"], errors: [] } as const;
const demo = [
  endpoint({
    ...shared,
    id: "list_demo",
    method: "POST",
    path: "/api/demo/list/",
    aliases: ["/api/demo/all/", { method: "GET", path: "/api/demo/list/" }],
    summary: "List",
    description: "All of them.",
    auth: "key_or_user",
    permission: "spans:read",
    limit: "api",
    query: z.object({
      ...pagingQuery(20),
      ...sortQuery("-timestamp"),
      ...timeWindowQuery(),
      ...environmentQuery(),
      ...includeFieldsQuery(),
    }),
    body: { kind: "json", schema: z.object({ filters: z.record(z.string(), node).optional() }) },
    success: { status: 200, schema: pageOf(named) },
    errors: ["query_too_large"],
    handler: () => ({ count: 0, next: null, previous: null, results: [] }),
  }),
  endpoint({
    ...shared,
    id: "get_demo",
    method: "GET",
    path: "/api/demo/{demo_id}/",
    summary: "Get",
    auth: "key",
    success: { status: 200, schema: node },
    errors: ["not_found"],
    handler: () => ({ name: "x", children: [] }),
  }),
  endpoint({
    ...shared,
    id: "chat",
    method: "POST",
    path: "/api/chat",
    summary: "Chat",
    auth: "key",
    dialect: "openai",
    body: { kind: "raw", maxBytes: 10, documents: z.object({ model: z.string(), tree: node, named }) },
    success: { status: 200, schema: z.looseObject({ id: z.string() }) },
    errors: ["upstream_failed"],
    handler: () => ({ id: "x" }),
  }),
];

// The document is read as a client reads it: as plain JSON of any shape.
const documentOf = (endpoints: AnyEndpoint[]) =>
  JSON.parse(JSON.stringify(openapiDocument(endpoints, { title: "Demo", version: "1.0.0" })));

describe("openapiDocument", () => {
  test("is valid OpenAPI 3.1, and every reference in it resolves", async () => {
    const document = documentOf(demo);
    const result = await new Validator().validate(document);
    expect(result).toMatchObject({ valid: true });
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)];
    expect(references.length).toBeGreaterThan(5);
    for (const [, name = ""] of references) expect(document.components.schemas).toHaveProperty([name]);
  });

  test("an operation documents its parameters, security, aliases and permission", () => {
    const { post } = documentOf(demo).paths["/api/demo/list/"];
    expect(post.operationId).toBe("list_demo");
    expect(post.security).toEqual([{ key: [] }, { user: [] }, { session: [] }]);
    expect(post.description).toContain("`POST /api/demo/all`, `GET /api/demo/list`");
    expect(post.description).toContain("spans:read");
    const parameters = Object.fromEntries(post.parameters.map((p: { name: string }) => [p.name, p]));
    expect(parameters.page_size).toMatchObject({
      in: "query",
      required: false,
      schema: { type: "integer", minimum: 1, maximum: 1000, default: 20 },
    });
    expect(parameters.environment.schema.enum).toEqual(["prod", "test", "all"]);
    expect(parameters.start_time.schema.format).toBe("date-time");
  });

  test("errors are the declared and the implied ones, in the shape of their dialect", () => {
    const { paths } = documentOf(demo);
    expect(Object.keys(paths["/api/demo/list/"].post.responses)).toEqual(
      expect.arrayContaining(["200", "400", "401", "403", "413", "415", "429", "500"]),
    );
    const schemaOf = (response: { content: Record<string, { schema: object }> }) =>
      response.content["application/json"]?.schema;
    expect(schemaOf(paths["/api/chat"].post.responses["424"])).toEqual({ $ref: "#/components/schemas/OpenAiError" });
    expect(schemaOf(paths["/api/demo/{demo_id}/"].get.responses["404"])).toEqual({
      $ref: "#/components/schemas/Error",
    });
    expect(paths["/api/demo/{demo_id}/"].get.parameters).toEqual([
      { name: "demo_id", in: "path", required: true, schema: { type: "string" } },
    ]);
  });
});
