import { statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { version } from "../../src/domain/version.ts";
import { startTestApp, testKeys, type TestApp } from "../support/test-app.ts";
import { createClient, type TestClient } from "../support/test-client.ts";
import { listSpans, storeSpans } from "../support/spans.ts";

/** Endpoints for operators and newcomers, without credentials. */
let app: TestApp;
let anonymous: TestClient;
beforeAll(async () => {
  app = await startTestApp();
  anonymous = createClient(app.url);
});
afterAll(() => app.stop());

test("/livez reports that the process is alive", async () => {
  expect(await anonymous.get("/livez")).toMatchObject({ status: 200, json: { status: "ok" } });
});

test("N7: /readyz reports each part that traffic needs, and on request what reads need", async () => {
  const traffic = { node: "ok", control: "ok", clock: "ok", journal: "ok", calls: "ok" };
  const reads = { spans: "ok", replay: "ok", writer: "ok" };
  for (const query of ["", "?reads=false"]) {
    const answer = await anonymous.get(`/readyz${query}`);
    expect([answer.status, answer.json]).toEqual([200, { ready: true, checks: traffic }]);
  }
  const answer = await anonymous.get("/readyz?reads=true");
  expect([answer.status, answer.json]).toEqual([200, { ready: true, checks: { ...traffic, ...reads } }]);
  expect(await anonymous.get("/readyz?reads=perhaps")).toMatchObject({
    status: 400,
    json: { detail: expect.stringContaining("reads") },
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

  test("is Prometheus text that counts requests by route, and accepted spans", async () => {
    await storeSpans(app.prod, [{}]);
    const { status, headers, text } = await anonymous.get("/metrics");
    expect(status).toBe(200);
    expect(headers.get("content-type")).toMatch(/^text\/plain/);
    for (const line of text.split("\n").filter((line) => line !== "")) {
      expect(line).toMatch(/^(?:# (?:HELP|TYPE) \w+ .*|\w+(?:\{.*\})? [-+\d.eNaInf]+)$/);
    }
    expect(text).toMatch(/route="\/api\/request-logs\/bulk\/"/);
  });

  test("reports the version, the readiness, and the free space of the data folder", async () => {
    const { text } = await anonymous.get("/metrics");
    const { bavail, bsize, blocks } = statfsSync(tmpdir());
    expect(text).toContain(`\nspanway_build_info{version="${version}"} 1\n`);
    for (const check of ["spans", "control", "journal", "writer"])
      expect(text).toContain(`\nspanway_ready{check="${check}"} 1\n`);
    const free = Number(/^spanway_data_disk_free_bytes (\S+)$/m.exec(text)?.[1]);
    // Other tests write meanwhile.
    expect(Math.abs(free - bavail * bsize)).toBeLessThan(0.2 * blocks * bsize);
  });

  test("contains no tenant data: no id, name, key, address or content of a span", async () => {
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
  test("is a page without requests to other hosts", async () => {
    const { status, headers, text } = await anonymous.get("/docs");
    expect(status).toBe(200);
    expect(headers.get("content-type")).toMatch(/^text\/html/);
    expect(text).toContain("<title>Spanway API</title>");
    expect(text).not.toMatch(/https?:\/\//);
    expect(text).not.toMatch(/(?:src|href)\s*=\s*["']?\/\//);
    expect(headers.get("content-security-policy")).toContain("default-src 'none'");
  });

  test("loads scripts and styles from this server", async () => {
    const { text } = await anonymous.get("/docs");
    const files = [...text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path = ""]) => path);
    expect(files.some((path) => path.endsWith(".js"))).toBe(true);
    expect(files.some((path) => path.endsWith(".css"))).toBe(true);
    for (const path of files) expect((await anonymous.get(path)).status).toBe(200);
  });
});
