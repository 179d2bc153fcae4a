import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newEvaluator } from "../support/evaluation.ts";
import { createSpan, fieldsOf, settle } from "../support/spans.ts";
import { livePath as path, listenLive, namesOf, until, type LiveStream } from "../support/live.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import { createClient, type Row } from "../support/test-client.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const listen = (key: string | undefined, query = "", headers: Record<string, string> = {}) =>
  listenLive(app.url, query, { ...(key !== undefined && { authorization: `Bearer ${key}` }), ...headers });

const metric = async (name: string): Promise<number> => {
  const { text } = await createClient(app.url).get("/metrics");
  return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
};

test("each stored span is one event with the row of the list, only for its organization", async () => {
  const [one, other] = [await app.newOrganization(), await app.newOrganization()];
  const [mine, theirs] = [await listen(one.keys.prod), await listen(other.keys.prod)];
  expect(mine.response.headers["content-type"]).toBe("text/event-stream; charset=utf-8");
  const made = await createSpan(one.prod, { span_name: "mine", input: "a\nb", metadata: { plan: "pro" } });
  await createSpan(other.prod, { span_name: "theirs" });
  await until(() => mine.events.length > 0 && theirs.events.length > 0);
  const shown = (await one.prod.list()).results[0];
  // A repeated span, a span of others or an old span would arrive before the next stored one.
  await createSpan(one.prod, { span_name: "old", timestamp: new Date(Date.now() - 61 * 60_000).toISOString() });
  await createSpan(one.prod, { span_name: "last" });
  await createSpan(other.prod, { span_name: "last" });
  await until(() => [mine, theirs].every(({ events }) => namesOf(events).includes("last")));
  expect([namesOf(mine.events), namesOf(theirs.events)]).toEqual([
    ["mine", "last"],
    ["theirs", "last"],
  ]);
  expect(mine.events[0]!.data["unique_id"]).toBe(made["unique_id"]);
  expect(mine.events[0]!.data).toEqual(shown);
  mine.close();
  theirs.close();
});

test("an event does not arrive before its span can be read", async () => {
  const { keys, prod } = await app.newOrganization();
  const stream = await listen(keys.prod, "include_fields=model");
  for (let i = 0; i < 5; i += 1) {
    const made = await createSpan(prod, { span_name: `s${i}`, model: "m" });
    await until(() => stream.events.length > i);
    const { data } = stream.events[i]!;
    expect(data).toMatchObject({ unique_id: made["unique_id"], model: "m" });
    expect(data).not.toHaveProperty("span_name");
    expect((await prod.list({ unique_id: made["unique_id"] })).count).toBe(1);
  }
  stream.close();
});

test("filters and environment are those of the list", async () => {
  const { keys, prod, test: testing } = await app.newOrganization();
  const streams = [
    await listen(keys.prod, "model=m1"),
    await listen(keys.prod, "environment=test"),
    await listen(keys.prod, "metadata__plan=pro&log_type=tool"),
    await listen(keys.prod, "status_code[operator]=gte&status_code[value]=500"),
    await listen(keys.prod, "customer_identifier=ann"),
    await listen(
      keys.prod,
      `filters=${encodeURIComponent('{"model":[{"value":["m1","m2"]},{"operator":"not","value":["m2"]}]}')}&customer_identifier=ann`,
    ),
  ];
  const none = await listen(keys.prod, "scores__no_such_evaluator=1");
  const expected = [["a", "d"], ["d"], ["c"], ["b"], ["a"], ["a"]];
  // Twice: a span that does not match would arrive before the second one.
  for (const time of [1, 2]) {
    await createSpan(prod, { span_name: "a", model: "m1", customer_identifier: "ann" });
    await createSpan(prod, { span_name: "b", model: "m2", status_code: 500 });
    await createSpan(prod, { span_name: "c", log_type: "tool", metadata: { plan: "pro" } });
    await createSpan(testing, { span_name: "d", model: "m1" });
    await settle(prod);
    await settle(testing);
    await until(() => streams.every(({ events }, at) => events.length >= time * (expected[at]?.length ?? 0)));
  }
  const unordered = streams.map(({ events }) => namesOf(events).sort());
  expect(unordered).toEqual(expected.map((names) => [...names, ...names].sort()));
  expect(none.events).toEqual([]);
  for (const stream of [...streams, none]) stream.close();
});

test("a span is sent once when a later score makes it match", { timeout: 40_000 }, async () => {
  const { keys, prod } = await app.newOrganization();
  const evaluator = await newEvaluator(prod, { type: "human", code_config: null });
  const stream = await listen(keys.prod, `scores__${String(evaluator["id"])}=1`);
  const made = await createSpan(prod, { span_name: "scored" });
  await createSpan(prod, { span_name: "other" });
  await settle(prod);
  await sleep(6_000);
  const score = { log_id: made["unique_id"], evaluator_id: evaluator["id"], numerical_value: 1 };
  expect((await prod.post("/api/scores/", score)).status).toBeLessThan(300);
  await until(() => stream.events.length > 0, 25_000);
  expect(namesOf(stream.events)).toEqual(["scored"]);
  stream.close();
});

test.each([
  ["no_such_field=1", "no_such_field"],
  ["start_time=2026-01-01", "start_time"],
  ["page=2", "page"],
  ["environment=staging", "environment"],
  ["status_code[operator]=near&status_code[value]=1", "status_code"],
  ["last_event_id=7", "last_event_id"],
  ["last_event_id=2026-02-31T10:00:00.000000000Z_00000000-0000-4000-8000-000000000000", "last_event_id"],
])("%s is refused before the stream begins", async (query, name) => {
  const answer = await app.prod.get(`${path}?${query}`);
  expect(answer.status).toBe(400);
  expect([answer.text, ...fieldsOf(answer)].join()).toContain(name);
});

test("HEAD responds like GET, and uses no slot", async () => {
  const before = await metric("spanway_live_listeners");
  const answer = await app.prod.request("HEAD", path);
  expect([answer.status, answer.headers.get("content-type"), answer.text]).toEqual([
    200,
    "text/event-stream; charset=utf-8",
    "",
  ]);
  expect(await metric("spanway_live_listeners")).toBe(before);
  expect((await app.prod.request("HEAD", `${path}?page=2`)).status).toBe(400);
});

test("a stream requires a key that may read spans", async () => {
  expect((await createClient(app.url).get(path)).status).toBe(401);
  const made = await (
    await app.login()
  ).post("/api/api-keys/", { name: "w", environment: "prod", permissions: ["spans:write"] });
  const key = String((made.json as Row)["key"] ?? (made.json as Row)["api_key"]);
  expect((await createClient(app.url, key).get(path)).status).toBe(403);
});

test("with the id of its last event, a stream continues without a gap or a repeat", async () => {
  const { keys, prod } = await app.newOrganization();
  const first = await listen(keys.prod);
  const none = first.lastId();
  await prod.post("/api/request-logs/bulk/", { logs: [1, 2, 3].map((i) => ({ span_name: `s${i}` })) });
  await until(() => first.events.length === 3);
  const second = first.events[1]!.id;
  first.close();
  await prod.post("/api/request-logs/bulk/", { logs: [4, 5].map((i) => ({ span_name: `s${i}` })) });
  const names = namesOf(first.events);
  const streams = [
    await listen(keys.prod, "", { "last-event-id": second }),
    await listen(keys.prod, `last_event_id=${second}`),
    await listen(keys.prod, `last_event_id=${none}`),
  ];
  await createSpan(prod, { span_name: "s6" });
  await until(() => streams.every(({ events }) => namesOf(events).includes("s6")));
  await createSpan(prod, { span_name: "s7" });
  await until(() => streams.every(({ events }) => namesOf(events).includes("s7")));
  const later = ["s4", "s5", "s6", "s7"];
  const got = streams.map(({ events }) => namesOf(events).sort());
  const behindSecond = [...names.slice(2), ...later].sort();
  expect(got).toEqual([behindSecond, behindSecond, [...names, ...later].sort()]);
  for (const stream of streams) stream.close();
});

test("the id of another organization's event reveals nothing of that organization", async () => {
  const [one, other] = [await app.newOrganization(), await app.newOrganization()];
  const theirs = await listen(other.keys.prod);
  await createSpan(one.prod, { span_name: "mine" });
  await createSpan(other.prod, { span_name: "theirs 1" });
  await until(() => theirs.events.length === 1);
  await createSpan(other.prod, { span_name: "theirs 2" });
  await settle(other.prod);
  const mine = await listen(one.keys.prod, "", { "last-event-id": theirs.lastId() });
  const ahead = await listen(one.keys.prod, "", { "last-event-id": theirs.lastId().replace(/^\d{4}/, "9999") });
  await createSpan(one.prod, { span_name: "mine 2" });
  await until(() => [mine, ahead].every(({ events }) => namesOf(events).includes("mine 2")));
  for (const stream of [mine, ahead]) {
    expect(namesOf(stream.events).filter((name) => name !== "mine")).toEqual(["mine 2"]);
    stream.close();
  }
  theirs.close();
});

test("a stream that begins too far back states how many spans it skips, or that this is unknown", async () => {
  const { keys, prod } = await app.newOrganization();
  const stream = await listen(keys.prod);
  const cursor = stream.lastId();
  stream.close();
  for (let i = 0; i < 3; i += 1) {
    await prod.post("/api/request-logs/bulk/", { logs: Array.from({ length: 400 }, () => ({ model: "m" })) });
  }
  await settle(prod);
  const many = await listen(keys.prod, `last_event_id=${cursor}&include_fields=model&model=m`);
  await until(() => many.events.some(({ event }) => event === "skipped"));
  expect(many.events.find(({ event }) => event === "skipped")?.data).toEqual({ count: 200 });
  expect(many.events.filter(({ event }) => event === "message")).toHaveLength(1_000);
  const old = cursor.replace(/^\d{4}/, "2020");
  const late = await listen(keys.prod, `last_event_id=${old}&include_fields=model&model=m`);
  await until(() => late.events.some(({ event }) => event === "skipped"));
  expect(late.events.find(({ event }) => event === "skipped")?.data).toEqual({ count: null });
  many.close();
  late.close();
});

test("one organization does not use up the slots of another", { timeout: 40_000 }, async () => {
  const [many, few] = [await app.newOrganization(), await app.newOrganization()];
  const streams: LiveStream[] = [];
  while (streams.length < 300) {
    const opened = await listen(many.keys.prod, "include_fields=model").catch(() => undefined);
    if (opened === undefined) break;
    streams.push(opened);
  }
  expect(streams.length).toBeLessThan(256);
  const refused = await many.prod.get(path);
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "5"]);
  expect(await metric("spanway_live_refusals_total")).toBeGreaterThan(0);
  streams.push(await listen(few.keys.prod));
  for (const stream of streams) stream.close();
});

test("the server stops immediately, and ends its streams", { timeout: 30_000 }, async () => {
  const stream = await listen((await app.newOrganization()).keys.prod);
  const startedMs = performance.now();
  await app.app.stop();
  await stream.ended;
  expect(stream.response.complete).toBe(true);
  expect(performance.now() - startedMs).toBeLessThan(10_000);
});
