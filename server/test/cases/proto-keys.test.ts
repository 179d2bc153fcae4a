import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSpan, listSpans, retrieveSpan, settle } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { TestClient } from "../support/test-client.ts";

let app: TestApp;
let prod: TestClient;
beforeAll(async () => {
  app = await startTestApp();
  ({ prod } = await app.newOrganization());
});
afterAll(() => app.stop());

/** JSON text: in an object literal, `__proto__` would set the prototype. */
const tree = '{"__proto__":"a","constructor":"b","prototype":{"__proto__":{"model":"polluted"}},"z":1}';
const bodyWith = (field: string, value: string) =>
  `{"log_type":"chat","__proto__":{"model":"polluted"},"constructor":{"model":"polluted"},"${field}":${value}}`;
const textOf = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));

describe("S1: member names of JavaScript objects are ordinary keys", () => {
  test.each(["metadata", "properties", "variables", "customer_params", "input", "full_request", "full_response"])(
    "within %s",
    async (field) => {
      const value = `{"inner":${tree}}`;
      const { unique_id } = await createSpan(prod, bodyWith(field, value));
      const shown = await retrieveSpan(prod, unique_id);
      expect([textOf(shown[field]), shown["model"]]).toEqual([value, null]);
    },
  );

  test("in a bulk request too", async () => {
    const value = `{"inner":${tree}}`;
    await prod.post("/api/request-logs/bulk/", `{"logs":[{"span_name":"bulk","metadata":${value}}]}`);
    await settle(prod);
    const { results } = await listSpans(prod, { span_name: "bulk" });
    expect(results.map(({ metadata }) => textOf(metadata))).toEqual([value]);
  });

  test("at the top of metadata __proto__ is reserved, as every key that starts with _, and affects no other", async () => {
    const { unique_id } = await createSpan(prod, `{"metadata":${tree.replace("{", '{"_own":1,')}}`);
    const shown = await retrieveSpan(prod, unique_id);
    expect(textOf(shown["metadata"])).toBe(tree.replace('"__proto__":"a",', ""));
    const filter = (name: string) => prod.get(`/api/request-logs/list/?${name}=b`);
    expect((await filter("metadata__constructor")).json).toMatchObject({ results: [{ unique_id }] });
    expect((await filter("metadata____proto__")).json).toMatchObject({
      errors: { metadata____proto__: [expect.any(String)] },
    });
  });

  test("as attributes of OTLP, as values and within JSON text", async () => {
    const attributes = [
      { key: "constructor", value: { stringValue: "b" } },
      { key: "deep", value: { kvlistValue: { values: [{ key: "__proto__", value: { stringValue: "n" } }] } } },
      { key: "text", value: { stringValue: tree } },
    ];
    const at = String(BigInt(Date.now()) * 1_000_000n);
    const ids = { traceId: "1".repeat(32), spanId: "2".repeat(16) };
    const span = { ...ids, name: "otlp", startTimeUnixNano: at, endTimeUnixNano: at, attributes };
    await prod.post("/api/v2/traces", { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] });
    await settle(prod);
    const { results } = await listSpans(prod, { span_name: "otlp" });
    expect(results.map(({ metadata }) => textOf(metadata))).toEqual([
      `{"constructor":"b","deep":{"__proto__":"n"},"text":${JSON.stringify(tree)}}`,
    ]);
  });
});
