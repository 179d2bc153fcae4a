import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { apiLimits } from "../../src/api/limits.ts";
import { filterLimits } from "../../src/filter/limits.ts";
import { storageLimits } from "../../src/storage/limits.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { always, bodyOf, createSpan, listSpans, retrieveSpan, settle, summarize } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import { createClient, type ListAnswer, type Row, type TestClient } from "../support/test-client.ts";

/** Section F of the additions: notes, pins and feedback, and later changes of metadata. */

let app: TestApp;
let prod: TestClient;
let test_: TestClient;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  app = await startTestApp({ SPANWAY_ALLOW_PRIVATE_UPSTREAMS: "127.0.0.1" });
});
afterAll(async () => {
  await app.stop();
  await receiver.close();
});

const slowly = { timeout: 10_000 };

const fields = ({ note, is_pinned, positive_feedback, metadata }: Row) => ({
  note,
  is_pinned,
  positive_feedback,
  metadata,
});
const pathOf = (id: unknown) => `/api/request-logs/${String(id)}/`;
const patch = (id: unknown, change: unknown, client = prod) => client.request("PATCH", pathOf(id), change);
const batch = (logs: unknown, client = prod) => client.request("PATCH", "/api/request-logs/batch-update/", { logs });

/** Each test has its own organization. */
async function newOrganization(): Promise<void> {
  ({ prod, test: test_ } = await app.newOrganization());
}

const newSpan = async (span: Row = {}) => (await createSpan(prod, { input: "hi", model: "m", ...span }))["unique_id"];

async function change(id: unknown, changed: unknown): Promise<Row> {
  const answer = await patch(id, changed);
  if (answer.status !== 200) throw new Error(`the change answered ${answer.status}: ${answer.text}`);
  return bodyOf(answer);
}

const idsOf = ({ results }: ListAnswer) => results.map((row) => row["unique_id"]);

describe("a change", () => {
  beforeAll(newOrganization);

  test("applies to a span that was accepted a moment ago; omitted fields stay, null clears", async () => {
    const sent = { note: "sent", positive_feedback: true, metadata: { plan: "pro", big: 1 } };
    const id = await newSpan(sent);
    const changed = { ...sent, is_pinned: true, metadata: { plan: "free", big: 1, added: { by: ["kim"] } } };
    expect(await change(id, { is_pinned: true, metadata: { plan: "free", added: { by: ["kim"] } } })).toEqual({
      unique_id: id,
      ...changed,
    });
    expect(fields(await retrieveSpan(prod, id))).toEqual(changed);
    await change(id, { note: null, positive_feedback: false });
    await change(id, { metadata: { plan: null, missing: null } });
    const cleared = {
      note: null,
      is_pinned: true,
      positive_feedback: false,
      metadata: { big: 1, added: { by: ["kim"] } },
    };
    expect(fields(await retrieveSpan(prod, id))).toEqual(cleared);
    await change(id, { is_pinned: null, positive_feedback: null });
    expect(fields(await retrieveSpan(prod, id))).toEqual({ ...cleared, is_pinned: false, positive_feedback: null });
    const [row = {}] = (await listSpans(prod, { unique_id: [id] })).results;
    expect(fields(row)).toEqual({ ...cleared, is_pinned: false, positive_feedback: null });
    expect(await change(id, {})).toMatchObject({ unique_id: id, is_pinned: false });
  });

  test("applies to a gateway call that ended a moment ago", async () => {
    const messages = [{ role: "user", content: "Hi" }];
    const call = await prod.post("/api/chat/completions", {
      model: "spanway/echo",
      messages,
      metadata: { plan: "pro" },
    });
    const id = call.headers.get("x-spanway-log-id");
    await change(id, { positive_feedback: true, metadata: { plan: "free" } });
    expect(await retrieveSpan(prod, id)).toMatchObject({ positive_feedback: true, metadata: { plan: "free" } });
  });

  test("keeps digits, spelling and any text", async () => {
    const metadata = { digits: 1, "a.b": 1, a__b: 2, "": "empty", constructor: 1 };
    const id = await newSpan({ metadata });
    const text = `{"metadata": {"n": 12345678901234567890123, "quote\\"": "é😀\\u2028\\n", "__proto__x": 5, "a.b": [1, {"x": null}]}}`;
    expect((await prod.request("PATCH", pathOf(id), text)).status).toBe(200);
    const { text: shown } = await prod.get(pathOf(id));
    expect(shown).toContain('"n":12345678901234567890123');
    expect(bodyOf(await prod.get(pathOf(id)))["metadata"]).toMatchObject({
      ...metadata,
      "a.b": [1, { x: null }],
      'quote"': "é😀\u2028\n",
    });
    for (const note of ["=1+1", "it's \\ \u0000", " \n", "日本", "x".repeat(apiLimits.noteChars)]) {
      expect(await change(id, { note })).toMatchObject({ note: note.replace("\u0000", "�") });
    }
  });

  test("of other fields at the same time applies too, and the last one of a field wins", async () => {
    const id = await newSpan({ metadata: { a: 0 } });
    const changes: Row[] = [
      { note: "n" },
      { is_pinned: true },
      { positive_feedback: true },
      ...Array.from({ length: 20 }, (_, n) => ({ metadata: { [`k${n}`]: n } })),
    ];
    expect((await Promise.all(changes.map((each) => patch(id, each)))).every(({ status }) => status === 200)).toBe(
      true,
    );
    const keys = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`k${n}`, n]));
    expect(fields(await retrieveSpan(prod, id))).toEqual({
      note: "n",
      is_pinned: true,
      positive_feedback: true,
      metadata: { a: 0, ...keys },
    });
    for (let n = 0; n < 5; n += 1) await change(id, { note: `note ${n}`, metadata: { a: n } });
    expect(await retrieveSpan(prod, id)).toMatchObject({ note: "note 4", metadata: { a: 4 } });
  });

  test.each([
    [{ note: 5 }, "note"],
    [{ note: "x".repeat(apiLimits.noteChars + 1) }, "note"],
    [{ is_pinned: "yes" }, "is_pinned"],
    [{ positive_feedback: 1 }, "positive_feedback"],
    [{ metadata: null }, "metadata"],
    [{ metadata: ["a"] }, "metadata"],
    [{ metadata: { a: "x".repeat(apiLimits.changedMetadataChars) } }, "metadata"],
    [{ metadata: { ["k".repeat(filterLimits.metadataKeyChars + 1)]: 1 } }, "metadata"],
    [{ note: "a", nota: "b" }, "nota"],
    [{ model: "gpt-4o" }, "model"],
  ])("%j is refused by name, and no part of it is applied", async (bad, name) => {
    const id = await newSpan();
    const answer = await patch(id, { is_pinned: true, ...bad });
    expect(answer.status).toBe(400);
    expect(Object.keys(bodyOf(answer)["errors"] as Row)[0]).toMatch(new RegExp(`^${name}`));
    expect(await retrieveSpan(prod, id)).toMatchObject({ is_pinned: false });
  });

  test("with a body that is not an object, or with too many keys, is refused", async () => {
    const id = await newSpan();
    for (const body of ["[]", "5", "{", "metadata=1", '{"metadata": 12345678901234567890}']) {
      expect(await prod.request("PATCH", pathOf(id), body)).toMatchObject({ status: 400 });
    }
    const keys = (from: number, count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${from + n}`, 1]));
    await change(id, { metadata: keys(0, filterLimits.metadataKeys) });
    expect((await patch(id, { metadata: { k0: 2 } })).status).toBe(200);
    expect((await patch(id, { metadata: keys(filterLimits.metadataKeys, 1) })).status).toBe(400);
  });

  test("of reserved keys is ignored", async () => {
    const id = await newSpan();
    expect(await change(id, { metadata: { _secret: 1, a: 1 } })).toMatchObject({ metadata: { a: 1 } });
  });
});

describe("a change outlives", () => {
  beforeAll(newOrganization);

  const trace = () => ({ trace_unique_id: randomUUID(), span_unique_id: "a" });

  test("resends of the span: complete, with another end, and before it was complete", async () => {
    const ids = trace();
    const id = await newSpan({ ...ids, start_time: "2026-01-01T00:00:00Z", metadata: { plan: "pro", gone: 1 } });
    const edited = { note: "seen", is_pinned: true, positive_feedback: false, metadata: { plan: "free", gone: null } };
    await change(id, edited);
    for (const again of [
      { timestamp: "2026-01-01T00:00:05Z", output: "whole", metadata: { plan: "pro", gone: 2, late: true } },
      { timestamp: "2026-01-01T00:00:09Z", output: "other", note: "sent", metadata: { plan: "max", late: true } },
    ]) {
      const { unique_id } = await createSpan(prod, { ...ids, start_time: "2026-01-01T00:00:00Z", ...again });
      expect(unique_id).toBe(id);
      await settle(prod);
      const shown = { ...edited, metadata: { plan: "free", late: true } };
      expect(await retrieveSpan(prod, id)).toMatchObject({ output: again.output, ...fields(shown) });
      const found = await listSpans(prod, { metadata__plan: ["free"], is_pinned: true, metadata__late: true });
      expect(idsOf(found)).toEqual([id]);
      expect((await listSpans(prod, { metadata__gone: { operator: "isnull", value: [false] } })).count).toBe(0);
      const tree = bodyOf(await prod.get(`/api/traces/${ids.trace_unique_id}/`))["span_tree"] as Row[];
      expect(tree[0]).toMatchObject(shown);
      const slim = bodyOf(await prod.get(`/api/traces/${ids.trace_unique_id}/?tree=slim`))["span_tree"] as Row[];
      expect(slim[0]).toMatchObject({ note: "seen", is_pinned: true, positive_feedback: false });
    }
  });

  test("a price change", async () => {
    const id = await newSpan({ model: "lab-x", prompt_tokens: 1_000_000, completion_tokens: 0 });
    await change(id, { note: "kept", metadata: { plan: "free" } });
    const price = { model: "lab-x", rates: { input: 1, output: 1 } };
    expect((await prod.post("/api/model-prices/", price)).status).toBe(201);
    await expect
      .poll(async () => {
        await prod.post(`/api/request-logs/reprice/?${always}`, { filters: {}, dry_run: false });
        return retrieveSpan(prod, id);
      }, slowly)
      .toMatchObject({ cost: 1, note: "kept", metadata: { plan: "free" } });
    expect((await listSpans(prod, { note: ["kept"], metadata__plan: ["free"] })).count).toBe(1);
  });

  test("in the webhook of a resent span", async () => {
    const ids = trace();
    const id = await newSpan({ ...ids, metadata: { plan: "pro" } });
    await change(id, { note: "seen", metadata: { plan: "free" } });
    const url = `${receiver.url}/changes`;
    const hook = await prod.post("/api/webhooks/", { url, name: "Hook", event_type: "request_log" });
    expect(hook.status).toBe(201);
    await createSpan(prod, { ...ids, output: "again", metadata: { plan: "max", late: 1 } });
    await expect
      .poll(() => receiver.on("/changes").at(-1)?.json, slowly)
      .toMatchObject({
        unique_id: id,
        output: "again",
        note: "seen",
        metadata: { plan: "free", late: 1 },
      });
  });
});

describe("permission to change", () => {
  beforeAll(newOrganization);

  test("is refused to other organizations, other environments and viewers; missing spans are 404", async () => {
    const id = await newSpan();
    await settle(prod);
    const others = await app.newOrganization();
    expect((await patch(id, { note: "x" }, others.prod)).status).toBe(404);
    expect((await patch(id, { note: "x" }, test_)).status).toBe(403);
    expect((await patch(randomUUID(), { note: "x" })).status).toBe(404);
    expect((await patch("nonsense", { note: "x" })).status).toBe(404);
    expect((await createClient(app.url).request("PATCH", pathOf(id), { note: "x" })).status).toBe(401);
    expect(fields(await retrieveSpan(prod, id))["note"]).toBeNull();
  });

  test("is given by the permission to score, which reveals nothing of the span", async () => {
    const admin = await app.login();
    const keyWith = async (...permissions: string[]) => {
      const made = await admin.post("/api/api-keys/", { name: "k", environment: "prod", permissions });
      return createClient(app.url, String(bodyOf(made)["key"] ?? bodyOf(made)["api_key"]));
    };
    const id = (await createSpan(app.prod, { input: "hi", metadata: { secret: 1 } }))["unique_id"];
    const [scorer, sender, reader] = [
      await keyWith("scores:write"),
      await keyWith("spans:ingest"),
      await keyWith("spans:read"),
    ];
    const answer = await patch(id, { positive_feedback: true, metadata: { a: 1 } }, scorer);
    expect([answer.status, answer.json]).toEqual([200, { unique_id: id, positive_feedback: true, metadata: { a: 1 } }]);
    for (const client of [sender, reader]) {
      expect(await patch(id, { note: "x" }, client)).toMatchObject({ status: 403 });
      expect(await batch([{ unique_id: id, note: "x" }], client)).toMatchObject({ status: 403 });
    }
    expect(await retrieveSpan(app.prod, id)).toMatchObject({ note: null, metadata: { secret: 1, a: 1 } });
  });

  test.each([
    ["member", 200],
    ["viewer", 403],
  ])("in a browser, of a %s: %i", async (role, status) => {
    const admin = await app.login();
    const email = `${randomUUID()}@example.com`;
    const invited = bodyOf(await admin.post("/api/members/", { email, role }));
    const password = "a long enough password";
    await createClient(app.url).post(`/api/invitations/${String(invited["invite_token"])}/`, { password });
    const login = await createClient(app.url).post("/api/auth/login/", { email, password, session: true });
    const cookie = login.headers.get("set-cookie")?.split(";")[0] ?? "";
    const id = (await createSpan(app.prod, { input: "hi" }))["unique_id"];
    const headers = { cookie, origin: app.url, "x-spanway-environment": "prod" };
    const change_ = (more: Record<string, string>) =>
      createClient(app.url).request("PATCH", pathOf(id), { note: "by hand" }, { ...headers, ...more });
    expect((await change_({ origin: "https://evil.example" })).status).toBe(403);
    expect((await change_({})).status).toBe(status);
    expect(await retrieveSpan(app.prod, id)).toMatchObject({ note: status === 200 ? "by hand" : null });
  });
});

describe("a batch", () => {
  beforeAll(newOrganization);

  test("changes each span independently, in order, and reports what it could not", async () => {
    const [a, b] = [await newSpan({ metadata: { k: 1 } }), await newSpan()];
    const foreign = (await createSpan((await app.newOrganization()).prod, { input: "x" }))["unique_id"];
    const elsewhere = (await createSpan(test_, { input: "x" }))["unique_id"];
    const answer = await batch([
      { unique_id: a, note: "first" },
      { unique_id: b, positive_feedback: true },
      { unique_id: a, note: "second", metadata: { k: null } },
      { unique_id: foreign, note: "x" },
      { unique_id: elsewhere, note: "x" },
      { unique_id: b, note: 5 },
      { note: "x" },
      "nonsense",
      { unique_id: "nonsense", note: "x" },
    ]);
    expect(answer.status).toBe(200);
    const { errors, ...counts } = bodyOf(answer) as { errors: Row[] } & Row;
    expect(counts).toEqual({ success_count: 3, error_count: 6, message: "3 of 9 logs changed" });
    expect(errors.map(({ index, code }) => [index, code])).toEqual([
      [3, "not_found"],
      [4, "forbidden"],
      [5, "invalid_request"],
      [6, "invalid_request"],
      [7, "invalid_request"],
      [8, "not_found"],
    ]);
    for (const { error } of errors) expect(error).toMatch(/^(unique_id|note|body) .+/);
    expect(errors[2]).toMatchObject({ errors: { note: [expect.any(String)] } });
    expect(errors[3]).toMatchObject({ errors: { unique_id: [expect.any(String)] } });
    expect(await retrieveSpan(prod, a)).toMatchObject({ note: "second", metadata: {} });
    expect(await retrieveSpan(prod, b)).toMatchObject({ note: null, positive_feedback: true });
  });

  test("is refused as a whole if no row is valid, or if it is not a batch", async () => {
    expect(await batch([{ unique_id: randomUUID(), note: "x" }])).toMatchObject({
      status: 400,
      json: { success_count: 0, error_count: 1 },
    });
    for (const logs of [[], "x", undefined]) expect((await batch(logs)).status).toBe(400);
    const many = Array.from({ length: storageLimits.bulkRows + 1 }, () => ({ unique_id: randomUUID(), note: "x" }));
    expect((await batch(many)).status).toBe(422);
  });

  test("of five hundred spans is one", async () => {
    const logs = Array.from({ length: storageLimits.bulkRows }, () => ({ input: "x", log_type: "bulk" }));
    await prod.post("/api/request-logs/bulk/", { logs });
    await settle(prod);
    const { results } = await listSpans(prod, { log_type: ["bulk"] }, `page_size=${storageLimits.bulkRows}`);
    const answer = await batch(results.map(({ unique_id }, n) => ({ unique_id, note: `n${n}`, is_pinned: true })));
    expect(answer.json).toMatchObject({ success_count: storageLimits.bulkRows });
    expect((await listSpans(prod, { is_pinned: [true], log_type: ["bulk"] })).count).toBe(storageLimits.bulkRows);
  });
});

test("a shared trace shows no notes, pins and ratings; slim trees omit is_pinned if false", async () => {
  await newOrganization();
  const trace_unique_id = randomUUID();
  const id = await newSpan({ trace_unique_id, span_unique_id: "a", timestamp: "2026-01-01T00:00:01Z" });
  await newSpan({ trace_unique_id, span_unique_id: "b", timestamp: "2026-01-01T00:00:02Z", positive_feedback: true });
  await change(id, { note: "ours alone", is_pinned: true });
  await settle(prod);
  const shared = bodyOf(await prod.request("PATCH", `/api/traces/${trace_unique_id}/?${always}`, { is_public: true }));
  for (const form of ["", "?tree=slim"]) {
    const text = await (await fetch(`${String(shared["public_url"])}${form}`)).text();
    expect(text).toContain(String(id));
    expect(text).not.toMatch(/ours alone|is_pinned|positive_feedback/);
  }
  const { span_tree: tree } = bodyOf(await prod.get(`/api/traces/${trace_unique_id}/?tree=slim&${always}`));
  expect((tree as Row[]).map(({ is_pinned }) => is_pinned)).toEqual([true, undefined]);
});

test("deleting a customer deletes its noted identity, and no other change", async () => {
  await newOrganization();
  const id = await newSpan({ customer_identifier: "ann", metadata: { secret: "x" } });
  await change(id, { note: "Ann called.", is_pinned: true, positive_feedback: false, metadata: { secret: null } });
  expect((await prod.request("DELETE", "/api/users/ann/")).status).toBeLessThan(300);
  const retained = { note: null, is_pinned: true, positive_feedback: false, metadata: {} };
  expect(fields(await retrieveSpan(prod, id))).toEqual(retained);
  expect((await listSpans(prod, { note: { operator: "isnull", value: [false] } })).count).toBe(0);
});

test("changes are deleted with the trace", async () => {
  await newOrganization();
  const ids = { trace_unique_id: randomUUID(), span_unique_id: "a" };
  const id = await newSpan(ids);
  await change(id, { note: "private", is_pinned: true });
  expect((await prod.request("DELETE", `/api/traces/${ids.trace_unique_id}/?${always}`)).status).toBe(200);
  expect((await patch(id, { note: "again" })).status).toBe(404);
  expect((await listSpans(prod, { is_pinned: [true] })).count).toBe(0);
  expect(await summarize(prod, { note: ["private"] })).toMatchObject({ number_of_requests: 0 });
});
