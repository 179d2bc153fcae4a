import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestApp, testKeys, type TestApp } from "../support/test-app.ts";
import { createClient, type TestClient } from "../support/test-client.ts";
import { listSpans, storeSpans } from "../support/spans.ts";

/** What operators watch and newcomers read. None of it takes credentials. */
let app: TestApp;
let anonymous: TestClient;
beforeAll(async () => {
  app = await startTestApp();
  anonymous = createClient(app.url);
});
afterAll(() => app.stop());

test("/livez says that the process lives", async () => {
  expect(await anonymous.get("/livez")).toMatchObject({ status: 200, json: { status: "ok" } });
});

test("/readyz says of each part that it is ready", async () => {
  expect(await anonymous.get("/readyz")).toMatchObject({
    status: 200,
    json: { ready: true, checks: { journal: "ok", spans: "ok", control: "ok", writer: "ok" } },
  });
});

describe("/metrics", () => {
  const secretWords = {
    model: "secret-model",
    customer_identifier: "secret-customer",
    thread_identifier: "secret-thread",
    trace_unique_id: "secret-trace",
    span_name: "secret-name",
    metadata: { "secret-key": "secret-value" },
    input: "secret-input",
    log_method: "secret-method",
    log_type: "secret-type",
  };

  test("is Prometheus text that counts requests by route, and the spans taken in", async () => {
    await storeSpans(app.prod, [{}]);
    const { status, headers, text } = await anonymous.get("/metrics");
    expect(status).toBe(200);
    expect(headers.get("content-type")).toMatch(/^text\/plain/);
    for (const line of text.split("\n").filter((line) => line !== "")) {
      expect(line).toMatch(/^(?:# (?:HELP|TYPE) \w+ .*|\w+(?:\{.*\})? [-+\d.eNaInf]+)$/);
    }
    expect(text).toMatch(/route="\/api\/request-logs\/bulk\/"/);
  });

  test("holds nothing of a tenant: no id, name, key, address or word of a span", async () => {
    const { prod, unique_organization_id } = await app.newOrganization();
    await storeSpans(prod, [secretWords]);
    await listSpans(prod, { customer_identifier: ["secret-customer"] });
    await prod.get("/api/request-logs/secret-id/");
    await prod.get("/secret-path");
    await prod.post("/api/request-logs/", { model: 1, secret: 2 });
    const { text } = await anonymous.get("/metrics");
    expect(text).not.toMatch(/secret-/);
    expect(text).not.toContain(unique_organization_id);
    expect(text).not.toContain(testKeys.prod);
    expect(text).not.toContain(app.admin.email);
  });
});

describe("/docs", () => {
  test("is a page that asks nothing of another host", async () => {
    const { status, headers, text } = await anonymous.get("/docs");
    expect(status).toBe(200);
    expect(headers.get("content-type")).toMatch(/^text\/html/);
    expect(text).toContain("<title>API reference</title>");
    expect(text).not.toMatch(/https?:\/\//);
    expect(text).not.toMatch(/(?:src|href)\s*=\s*["']?\/\//);
    expect(headers.get("content-security-policy")).toContain("default-src 'none'");
  });

  test("renders the document of this server", async () => {
    expect((await anonymous.get("/docs")).text).toContain("openapi.json");
  });
});
