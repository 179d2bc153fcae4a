import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { always, bodyOf } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import { createClient, type TestClient } from "../support/test-client.ts";
import { drawTree, ingest, traceSpan, type Node } from "../support/traces.ts";

let app: TestApp;
let own: Awaited<ReturnType<TestApp["newOrganization"]>>;
let other: typeof own;
let anyone: TestClient;

const secret = { metadata: { secret: "s3cret" }, customer_identifier: "anna", customer_email: "anna@example.com" };

beforeAll(async () => {
  app = await startTestApp({ SPANWAY_PUBLIC_TRACE_PER_MINUTE: "40" });
  [own, other] = [await app.newOrganization(), await app.newOrganization()];
  anyone = createClient(app.url);
  for (const { prod } of [own, other]) {
    await ingest(prod, [
      traceSpan("t", "root", null, 0, { input: "q", output: "a", ...secret }),
      traceSpan("t", "call", "root", 1, { log_type: "chat", input: "inner", ...secret }),
    ]);
  }
  await ingest(own.test, [traceSpan("t", "of-test", null)]);
});
afterAll(() => app.stop());

const share = (client: TestClient, id: string, body: unknown) =>
  client.request("PATCH", `/api/traces/${encodeURIComponent(id)}/`, body);
const read = (id: string, organization = own.unique_organization_id, query = "") =>
  anyone.get(`/api/${organization}/traces/${id}/?${query}`);

describe("sharing", () => {
  test("makes a trace public, and private again", async () => {
    expect((await read("t")).status).toBe(404);
    const shared = await share(own.prod, "t", { is_public: true });
    expect([shared.status, shared.json]).toEqual([
      200,
      { trace_unique_id: "t", is_public: true, public_url: expect.stringContaining("/traces/t/") },
    ]);
    const anybody = await fetch(String(bodyOf(shared)["public_url"]));
    expect([anybody.status, await anybody.json()]).toEqual([200, expect.objectContaining({ trace_unique_id: "t" })]);
    expect((await read("t")).status).toBe(200);
    expect((await own.prod.get("/api/traces/t/sharing/")).json).toEqual(shared.json);
    expect((await own.test.get("/api/traces/t/sharing/")).json).toMatchObject({ is_public: false });
    expect((await share(own.prod, "t", { is_public: true })).status).toBe(200);
    const ended = await share(own.prod, "t", { is_public: false });
    expect([ended.status, ended.json]).toEqual([200, { trace_unique_id: "t", is_public: false, public_url: null }]);
    expect((await own.prod.get("/api/traces/t/sharing/")).json).toEqual(ended.json);
    expect((await read("t")).status).toBe(404);
  });

  test.each([{}, { is_public: null }, { is_public: "true" }, { is_public: 1 }, []])("with %j is 400", async (body) => {
    const answer = await share(own.prod, "t", body);
    expect([answer.status, bodyOf(answer)["code"]]).toEqual([400, "invalid_request"]);
    expect(bodyOf(answer)["detail"]).toEqual(expect.any(String));
  });

  test("without credentials is 401", async () => {
    expect((await share(anyone, "t", { is_public: true })).status).toBe(401);
  });

  test("of a trace without spans is stored until there are some", async () => {
    expect((await share(own.prod, "later", { is_public: true })).status).toBe(200);
    expect((await read("later")).status).toBe(404);
    await ingest(own.prod, [traceSpan("later", "a", null)]);
    expect((await read("later")).status).toBe(200);
  });

  test("applies only to that organisation", async () => {
    await share(other.prod, "t", { is_public: true });
    expect((await read("t", other.unique_organization_id)).status).toBe(200);
    expect((await read("t")).status).toBe(404);
    await share(own.prod, "t", { is_public: false });
    expect((await read("t", other.unique_organization_id)).status).toBe(200);
  });
});

test("K1: a key that writes, or reads and writes, publishes nothing without traces:share", async () => {
  const admin = await app.login();
  await ingest(app.prod, [traceSpan("secret", "s", null)]);
  const path = "/api/traces/secret/";
  const keyOf = async (...permissions: string[]) => {
    const made = bodyOf(await admin.post("/api/api-keys/", { name: "k", environment: "prod", permissions }));
    return createClient(app.url, String(made["key"]));
  };
  for (const permissions of [["spans:write"], ["spans:write", "spans:read"], ["traces:delete", "settings:write"]]) {
    const answer = await (await keyOf(...permissions)).request("PATCH", path, { is_public: true });
    expect(answer).toMatchObject({ status: 403, json: { detail: expect.stringContaining("traces:share") } });
  }
  expect((await (await keyOf("traces:share")).request("PATCH", path, { is_public: true })).status).toBe(200);
});

describe("with a trace of that id in each environment", () => {
  test("the key's trace is shared, and never the other, even after the shared one is deleted", async () => {
    await ingest(own.prod, [traceSpan("both", "of-prod", null)]);
    await ingest(own.test, [traceSpan("both", "of-test", null)]);
    await share(own.prod, "both", { is_public: true });
    expect(bodyOf(await read("both"))).toMatchObject({ environment: "prod", name: "of-prod" });
    await own.prod.request("DELETE", `/api/traces/both/?${always}&environment=prod`);
    for (const query of ["", "tree=slim"]) {
      expect((await read("both", own.unique_organization_id, query)).status).toBe(404);
    }
    expect((await own.test.get("/api/traces/both/")).status).toBe(200);
  });

  test("K3: one that exists only in the other environment is neither shared nor unshared", async () => {
    const path = "/api/traces/elsewhere/";
    await ingest(own.test, [traceSpan("elsewhere", "of-test", null)]);
    expect((await own.prod.request("PATCH", path, { is_public: true })).status).toBe(403);
    expect((await read("elsewhere")).status).toBe(404);
    await share(own.test, "elsewhere", { is_public: true });
    expect((await own.prod.request("PATCH", path, { is_public: false })).status).toBe(403);
    expect(bodyOf(await read("elsewhere"))).toMatchObject({ environment: "test", name: "of-test" });
  });

  test("K3: each environment shares and unshares only its own", async () => {
    await ingest(own.prod, [traceSpan("twins", "of-prod", null)]);
    await ingest(own.test, [traceSpan("twins", "of-test", null)]);
    await share(own.prod, "twins", { is_public: true });
    await share(own.test, "twins", { is_public: false });
    expect(bodyOf(await read("twins"))).toMatchObject({ environment: "prod" });
    await share(own.test, "twins", { is_public: true });
    await share(own.prod, "twins", { is_public: false });
    expect(bodyOf(await read("twins"))).toMatchObject({ environment: "test" });
  });

  test("one that is shared before it arrives is that of the key", async () => {
    await share(own.prod, "to come", { is_public: true });
    await ingest(own.test, [traceSpan("to come", "of-test", null)]);
    expect((await read("to%20come")).status).toBe(404);
    await ingest(own.prod, [traceSpan("to come", "of-prod", null)]);
    expect(bodyOf(await read("to%20come"))).toMatchObject({ environment: "prod" });
  });
});

describe("a public trace", () => {
  beforeAll(() => share(own.prod, "t", { is_public: true }));

  test("has figures, tree, input and output, of the environment that was shared", async () => {
    const trace = bodyOf(await read("t"));
    expect(trace).toMatchObject({ trace_unique_id: "t", environment: "prod", span_count: 2, input: "q", output: "a" });
    expect(drawTree(trace["span_tree"] as Node[])).toBe("root(call)");
  });

  test("hides metadata, customer and key, in every node too", async () => {
    for (const query of ["", "tree=slim"]) {
      const { text } = await read("t", own.unique_organization_id, query);
      for (const hidden of ["s3cret", "anna", "metadata", "customer", "organization_key"])
        expect(text).not.toContain(hidden);
    }
  });

  test("can be read slim", async () => {
    const [root] = bodyOf(await read("t", own.unique_organization_id, "tree=slim"))["span_tree"] as Node[];
    expect(root).not.toHaveProperty("input");
  });
});

test("everything that is not shared is 404 with one body", async () => {
  const answers = [await read("nothing"), await read("t", "org_nobody"), await read("%00"), await read("' OR 1=1")];
  for (const answer of answers) {
    expect([answer.status, answer.json]).toEqual([404, answers[0]?.json]);
    expect(bodyOf(answer)).toMatchObject({ error: expect.any(String), detail: expect.any(String) });
  }
});

// Last, because it uses up this address's limit of reads per minute.
test("public reads are limited by address", async () => {
  const statuses: number[] = [];
  for (let n = 0; n <= 40; n += 1) statuses.push((await read("nothing")).status);
  expect(statuses[0]).toBe(404);
  expect(statuses.at(-1)).toBe(429);
  expect((await read("t")).json).toMatchObject({ code: "rate_limited", retry_after: expect.any(Number) });
});
