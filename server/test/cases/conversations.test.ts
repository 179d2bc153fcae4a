import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  always,
  bodyOf,
  createSpan,
  fieldsOf,
  listSpans,
  settle,
  settleCalls,
  storeSpans,
  summarize,
} from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { Row, TestClient } from "../support/test-client.ts";

/** Conversations in which every turn repeats all previous turns. */
let app: TestApp;
let prod: TestClient;
let testKey: TestClient;
beforeAll(async () => {
  app = await startTestApp();
  ({ prod, test: testKey } = await app.newOrganization());
  // In a different order than they happened.
  await storeSpans(
    prod,
    given.toSorted((a, b) => rankOf(a) - rankOf(b)),
  );
});
afterAll(() => app.stop());

type Message = Row & { content?: unknown };
const user = (content: unknown): Message => ({ role: "user", content });
const assistant = (content: unknown): Message => ({ role: "assistant", content });
const second = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 1_000).toISOString();
const rankOf = (span: Row) => ((Date.parse(String(span["timestamp"])) / 1_000) * 37) % 211;

/** All initial spans, stored in one request. */
const given: Row[] = [];
let threads = 0;
const newThread = () => `thread ${(threads += 1)}`;
const inThread = (thread_identifier: string) => ({ thread_identifier });
/** A span named after the second in which it ended. */
const call = (
  thread: string,
  at: number,
  prompt_messages: readonly unknown[],
  answer?: Message,
  more: Row = {},
): Row => ({
  span_name: `${at}`,
  thread_identifier: thread,
  timestamp: second(at),
  prompt_messages,
  ...(answer && { completion_message: answer }),
  ...more,
});

type Turn = [name: unknown, added: unknown, resent: unknown];
/** What each span of a conversation adds to it, in order of time. */
async function turnsOf(filters: unknown): Promise<Turn[]> {
  const query = "include_fields=span_name,new_messages,resent_message_count&sort_by=timestamp&page_size=1000";
  const { results } = await listSpans(prod, filters, query);
  return results.map((row) => [row["span_name"], row["new_messages"], row["resent_message_count"]]);
}

const saying = (text: string, operator = "contains") => ({ new_messages: { operator, value: [text] } });
/** The names of the spans that a search finds, in order of time. */
async function hits(filters: object, { query = "", client = prod } = {}): Promise<unknown[]> {
  const fields = "include_fields=span_name&sort_by=timestamp&page_size=1000";
  const { count, results } = await listSpans(client, filters, `${fields}&${query}`);
  expect(results.length).toBe(count);
  return results.map((row) => row["span_name"]);
}

describe("a thread of 200 turns", () => {
  const thread = newThread();
  const turns = 200;
  const transcript = Array.from({ length: turns }, (_, turn) => [
    user(`Question ${turn}: what of "${turn * 7919}"?`),
    assistant(`Reply ${turn}: it is\n${turn * 104_729}/x.`),
  ]).flat();
  const spans = Array.from({ length: turns }, (_, turn) =>
    call(thread, turn, transcript.slice(0, 2 * turn + 1), { ...transcript[2 * turn + 1], refusal: null }),
  );
  given.push(...spans);

  test("shows the new messages of each turn", async () => {
    expect(await turnsOf(inThread(thread))).toEqual(
      spans.map((span, turn) => [`${turn}`, [transcript[2 * turn], span["completion_message"]], 2 * turn]),
    );
  });

  test("shows the same for one turn, and for a page", async () => {
    const query = "page=3&page_size=10&sort_by=-timestamp&include_fields=new_messages";
    const { results } = await listSpans(prod, inThread(thread), query);
    expect(results.map((row) => (row["new_messages"] as Message[])[0])).toEqual(
      Array.from({ length: 10 }, (_, i) => transcript[2 * (turns - 21 - i)]),
    );
    const [{ unique_id: id, ...row } = {}] = results;
    const one = await prod.get(`/api/request-logs/${String(id)}/?include_fields=new_messages,resent_message_count`);
    expect(bodyOf(one)).toEqual({ ...row, unique_id: id, resent_message_count: 2 * (turns - 21) });
  });

  test("is found once for each message", async () => {
    const everywhere = { messages: { operator: "contains", value: ["Question 50:"] } };
    expect(await hits({ ...inThread(thread), ...everywhere })).toHaveLength(150);
    expect(await hits({ ...inThread(thread), ...saying("Question 50:") })).toEqual(["50"]);
    expect(await hits({ ...inThread(thread), ...saying(`IT IS\n${120 * 104_729}/X`, "icontains") })).toEqual(["120"]);
    expect(await hits({ ...inThread(thread), ...saying(`of "${120 * 7919}"?`) })).toEqual(["120"]);
    expect(await hits({ ...inThread(thread), ...saying("Question ") })).toHaveLength(turns);
  });

  test("is found where a message was sent, not where a window begins", async () => {
    const path = `/api/request-logs/list/?start_time=${second(100)}&end_time=${second(150)}`;
    const within = async (text: string) =>
      bodyOf(await prod.post(path, { filters: { ...inThread(thread), ...saying(text) } }))["count"];
    expect([await within("Question 50:"), await within("Question 100:"), await within("Question 160:")]).toEqual([
      0, 1, 0,
    ]);
    expect(await within("Question ")).toBe(51);
  });

  test("is summed and grouped by new messages", async () => {
    const filters = { ...inThread(thread), ...saying("Question 1") };
    expect(await summarize(prod, filters)).toMatchObject({ number_of_requests: 111 });
    const groups = await prod.post(`/api/request-logs/groups/?group_by=thread&${always}`, { filters });
    expect(bodyOf(groups)).toMatchObject({ count: 1, results: [{ number_of_requests: 111 }] });
  });

  test("pages through matches without loss or repeat", async () => {
    const seen: unknown[] = [];
    let path: string | null =
      `/api/request-logs/list/?${always}&page_size=60&sort_by=timestamp&include_fields=span_name`;
    while (path !== null) {
      const page = bodyOf(await prod.post(path, { filters: { ...inThread(thread), ...saying("Question 1") } }));
      expect(page["count"]).toBe(111);
      seen.push(...(page["results"] as Row[]).map((row) => row["span_name"]));
      path = page["next"] as string | null;
    }
    expect(seen).toEqual(spans.map((span) => span["span_name"]).filter((name) => String(name).startsWith("1")));
  });
});

/** The spans of a thread, and what each of them adds to it. */
function conversation(
  what: string,
  spans: (thread: string) => Row[],
  turns: Turn[],
): [what: string, thread: string, turns: Turn[]] {
  const thread = newThread();
  given.push(...spans(thread));
  return [what, thread, turns];
}

describe("new messages", () => {
  const system = (time: string): Message => ({ role: "system", content: `It is ${time}.` });
  const start = [user("a"), assistant("A")];
  const messages = [user("go on"), assistant("So far.")];

  test.each([
    conversation(
      "after an edit is the message that differs, and what follows it for the first time",
      (thread) => [
        call(thread, 1, [user("a")], assistant("A")),
        call(thread, 2, [...start, user("b")], assistant("B")),
        call(thread, 3, [user("a"), assistant("A changed"), user("b"), assistant("B"), user("c")], assistant("C")),
      ],
      [
        ["1", start, 0],
        ["2", [user("b"), assistant("B")], 2],
        ["3", [assistant("A changed"), user("c"), assistant("C")], 3],
      ],
    ),
    conversation(
      "if the front is cut, or changes with the time of day, is what is new",
      (thread) => [
        call(thread, 1, [system("one"), user("a")], assistant("A")),
        call(thread, 2, [system("two"), ...start, user("b")], assistant("B")),
        call(thread, 3, [system("two"), user("b"), assistant("B"), user("c")], assistant("C")),
      ],
      [
        ["1", [system("one"), ...start], 0],
        ["2", [system("two"), user("b"), assistant("B")], 2],
        ["3", [user("c"), assistant("C")], 3],
      ],
    ),
    conversation(
      "on parallel branches is the new part of each",
      (thread) => [
        call(thread, 1, [user("a")], assistant("A")),
        call(thread, 2, [...start, user("left")], assistant("L")),
        call(thread, 3, [...start, user("right")], assistant("R")),
        call(thread, 4, [...start, user("left"), assistant("L"), user("on")], assistant("O")),
      ],
      [
        ["1", start, 0],
        ["2", [user("left"), assistant("L")], 2],
        ["3", [user("right"), assistant("R")], 2],
        ["4", [user("on"), assistant("O")], 4],
      ],
    ),
    conversation(
      "is a repeated message",
      (thread) => [
        call(thread, 1, [user("go on")], assistant("So far.")),
        call(thread, 2, [...messages, user("go on")], assistant("So far.")),
        call(thread, 3, [...messages, ...messages, user("go on")], assistant("The end.")),
      ],
      [
        ["1", messages, 0],
        ["2", messages, 2],
        ["3", [user("go on"), assistant("The end.")], 4],
      ],
    ),
    conversation(
      "of turns that all say one time is what the longer has more",
      (thread) =>
        [[user("a")], [...start, user("b")], [...start, user("b"), user("c")]].map((messages) =>
          call(thread, 1, messages),
        ),
      [
        ["1", [user("a")], 0],
        ["1", [assistant("A"), user("b")], 1],
        ["1", [user("c")], 3],
      ],
    ),
  ])("%s", async (_what, thread, turns) => {
    const shown = await turnsOf(inThread(thread));
    expect(shown.toSorted((a, b) => Number(a[2]) - Number(b[2]))).toEqual(turns);
  });

  describe("in a trace without a thread", () => {
    const trace = { trace_unique_id: "wrapped", thread_identifier: "" };
    const done = assistant("done");
    given.push(
      call("", 12, [user("plan"), user("mine")], done, {
        ...trace,
        span_unique_id: "agent",
        log_type: "agent",
        start_time: second(10),
      }),
      call("", 11, [user("plan")], done, {
        ...trace,
        span_unique_id: "call",
        span_parent_id: "agent",
        start_time: second(10),
      }),
      // A nested call that ends at the same instant.
      call("", 15, [user("plan b")], undefined, {
        ...trace,
        span_unique_id: "outer",
        span_name: "outer",
        start_time: second(13),
      }),
      call("", 15, [user("plan b")], undefined, {
        ...trace,
        span_unique_id: "inner",
        span_name: "inner",
        start_time: second(14),
      }),
    );

    test("a call has the messages that its wrapper repeats", async () => {
      const turns = (await turnsOf({ trace_unique_id: "wrapped" })).map(([name, added]) => [name, added]);
      expect(Object.fromEntries(turns)).toEqual({
        11: [user("plan"), done],
        12: [user("mine")],
        outer: [],
        inner: [user("plan b")],
      });
      expect(await hits({ trace_unique_id: "wrapped", ...saying("plan") })).toEqual(["11", "inner"]);
    });
  });

  test("are determined per organization and environment", async () => {
    const thread = newThread();
    const other = await app.newOrganization();
    const secret = [user("secret")];
    await Promise.all([
      storeSpans(other.prod, [call(thread, 1, secret)]),
      storeSpans(testKey, [call(thread, 1, secret)]),
      storeSpans(prod, [call(thread, 2, secret)]),
    ]);
    const filters = { ...inThread(thread), ...saying("secret") };
    expect(await hits(filters)).toEqual(["1", "2"]);
    expect(await hits(filters, { query: "environment=prod" })).toEqual(["2"]);
    expect(await hits(filters, { client: other.prod })).toEqual(["1"]);
    expect(await turnsOf(inThread(thread))).toEqual([
      ["1", secret, 0],
      ["2", secret, 0],
    ]);
  });

  test("follow the last version of a span, and move to the next span when it is deleted", async () => {
    const thread = newThread();
    const turn = (name: string, at: number, ...messages: Message[]) =>
      call(thread, at, messages, undefined, {
        span_name: name,
        trace_unique_id: `${thread} ${name}`,
        span_unique_id: "s",
      });
    await storeSpans(prod, [turn("1", 1, user("a"), user("typo")), turn("2", 2, user("a"), user("typo"), user("b"))]);
    await storeSpans(prod, [turn("1", 1.5, user("a"))]);
    expect(await turnsOf(inThread(thread))).toEqual([
      ["1", [user("a")], 0],
      ["2", [user("typo"), user("b")], 1],
    ]);
    expect(await hits({ ...inThread(thread), ...saying("typo") })).toEqual(["2"]);
    await prod.request("DELETE", `/api/traces/${encodeURIComponent(`${thread} 1`)}/?${always}`);
    await expect
      .poll(() => turnsOf(inThread(thread)), { timeout: 10_000 })
      .toEqual([["2", [user("a"), user("typo"), user("b")], 0]]);
  });
});

describe("messages of a thread", () => {
  const thread = newThread();
  const odd = 'a/b \u2028 "q"';
  const text = (at: number, input: string, output: string, log_type = "chat"): Row => ({
    span_name: `${at}`,
    thread_identifier: thread,
    timestamp: second(at),
    log_type,
    input,
    output,
  });
  given.push(
    text(1, odd, "\\slash\n"),
    text(2, JSON.stringify([user(odd), assistant("\\slash\n"), user("c")]), JSON.stringify(assistant("d"))),
    text(3, '[{"role":', "[1]"),
    { ...call(thread, 4, [user("c")]), completion_messages: [assistant("e"), assistant("second choice")] },
    text(5, odd, "d", "tool"),
  );

  test("are the same in each form in which they were sent", async () => {
    expect(await turnsOf(inThread(thread))).toEqual([
      ["1", [user(odd), assistant("\\slash\n")], 0],
      ["2", [user("c"), assistant("d")], 2],
      ["3", [user('[{"role":'), assistant("[1]")], 0],
      ["4", [assistant("e"), assistant("second choice")], 1],
      ["5", [], 0],
    ]);
  });

  test.each([
    ["a/b \u2028", ["1"]],
    ['"q"', ["1"]],
    ['[{"role":', ["3"]],
    ["second choice", ["4"]],
  ])("are found by %j", async (needle, expected) => {
    expect(await hits({ ...inThread(thread), ...saying(needle) })).toEqual(expected);
  });

  test("are the same on each route", async () => {
    const [way, [a, b]] = [newThread(), [[user("a")], [user("a"), assistant("A"), user("b")]] as const];
    const attributes = {
      "gen_ai.operation.name": "chat",
      "gen_ai.conversation.id": way,
      "gen_ai.input.messages": JSON.stringify(
        [...b, user("c")].map(({ role, content }) => ({ role, parts: [{ type: "text", content }] })),
      ),
    };
    const at = `${BigInt(Date.parse(second(3))) * 1_000_000n}`;
    const span = {
      traceId: "0af7651916cd43dd8448eb211c80319c",
      spanId: "b7ad6b7169203331",
      name: "3",
      startTimeUnixNano: at,
      endTimeUnixNano: at,
      attributes: Object.entries(attributes).map(([key, stringValue]) => ({ key, value: { stringValue } })),
    };
    const messages = [...b, user("c"), user("d")];
    await createSpan(prod, call(way, 1, a, assistant("A")));
    const answers = [
      await prod.post("/api/v1/traces/ingest", [{ ...call(way, 2, b), trace_unique_id: way, span_unique_id: "1" }]),
      await prod.post("/api/v2/traces", { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] }),
      await prod.post("/api/chat/completions", { model: "spanway/echo", messages, thread_identifier: way }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    await settle(prod);
    await settleCalls(prod);
    const turns = await turnsOf(inThread(way));
    expect(turns.map(([, added]) => added)).toMatchObject([
      [user("a"), assistant("A")],
      [user("b")],
      [user("c")],
      [user("d"), { role: "assistant" }],
    ]);
  });
});

describe("new_messages", () => {
  const thread = newThread();
  given.push(
    call(thread, 1, [user("Apples")]),
    call(thread, 2, [user("Apples"), user("Pears")]),
    call(thread, 3, [user("Apples"), user("Pears")]),
  );

  test.each<[filters: object, expected: string[]]>([
    [{ new_messages: { operator: "not_contains", value: ["Pears"] } }, ["1", "3"]],
    [{ new_messages: { operator: "icontains", value: ["apples", "PEARS"] } }, ["1", "2"]],
    [{ new_messages: { operator: "isnull", value: [true] } }, ["3"]],
    [{ new_messages: { operator: "isnull", value: [false] } }, ["1", "2"]],
    [{ new_messages: "Pears" }, ["2"]],
    [{ new_messages: { operator: "startswith", value: ["App"] } }, ["1"]],
    [{ connector: "OR", filter_params: [saying("Apples"), { span_name: "3" }] }, ["1", "3"]],
    [{ ...saying("Pears"), span_name: "3" }, []],
  ])("%j", async (filters, expected) => {
    expect(await hits({ ...inThread(thread), among: { filter_params: filters } })).toEqual(expected);
  });

  test("can be requested in a URL too", async () => {
    const query = "new_messages[value]=pears&new_messages[operator]=icontains";
    expect(await hits(inThread(thread), { query })).toEqual(["2"]);
  });

  test("is only in responses to requests that name it", async () => {
    const { results } = await listSpans(prod, inThread(thread));
    const one = await prod.get(`/api/request-logs/${String(results[0]?.["unique_id"])}/`);
    expect(bodyOf(one)).toHaveProperty("full_request");
    for (const row of [results[0], bodyOf(one)]) {
      expect(row).not.toHaveProperty("new_messages");
      expect(row).not.toHaveProperty("resent_message_count");
    }
  });

  test("is unknown to traces, threads, customers and conditions", async () => {
    for (const path of ["/api/traces/list/", "/api/log_threads/", "/api/users/list/"]) {
      const answer = await prod.post(path, { filters: saying("x") });
      expect([answer.status, fieldsOf(answer)], path).toEqual([400, ["new_messages"]]);
    }
    const condition_policy = { rules: [{ field: "new_messages", operator: "contains", value: "x" }] };
    expect((await prod.post("/api/conditions/", { name: "c", condition_policy })).status).toBe(400);
  });
});
