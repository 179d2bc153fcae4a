import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { countUsage, isPlain } from "./count-usage.ts";
import { ownCount, type UsageFact } from "./usage-fact.ts";

let next = 0;
const idOf = (name: string) => `00000000-0000-8000-8000-${name.padStart(12, "0")}`;

function fact(
  name: string,
  given: Partial<UsageFact> & { parent?: string; tokens?: number | undefined } = {},
): UsageFact {
  next += 1;
  const { parent = "", tokens, ...rest } = given;
  const at = String(next).padStart(9, "0");
  return {
    unique_id: idOf(name),
    span_unique_id: name,
    span_parent_id: parent,
    start_time: `2026-01-01 00:00:00.${at}`,
    timestamp: `2026-01-01 00:00:01.${at}`,
    log_type: "chat",
    is_gateway: false,
    has_content: true,
    is_failed: false,
    model: "gpt-4o",
    response_id: "",
    gateway_log_id: "",
    scope_name: "",
    prompt_tokens: tokens === undefined ? null : tokens,
    completion_tokens: tokens === undefined ? null : 0,
    total_tokens: tokens ?? null,
    cost: null,
    is_stated: false,
    customer_identifier: "",
    thread_identifier: "",
    ...rest,
  };
}

const stated = (cost: number) => ({ cost, is_stated: true });
const nowhere = { isGatewayCall: () => false, reporter: () => undefined };
const agent = { log_type: "agent" };
const tool = { log_type: "tool" };

/** `name: [tokens, cost]` that each span counts for. */
function counted(facts: readonly UsageFact[], outside = nowhere as Parameters<typeof countUsage>[1]) {
  const counts = countUsage(facts, outside);
  return Object.fromEntries(
    facts.map((one, index) => [
      one.span_unique_id,
      [counts[index]!.counts_tokens ? (one.total_tokens ?? 0) : 0, counts[index]!.cost],
    ]),
  );
}

describe("tokens and cost roll up separately", () => {
  const cases: Array<[name: string, facts: UsageFact[], expected: Record<string, [number, number | null]>]> = [
    [
      "a tool's own cost beside that of the call above it",
      [fact("c", { tokens: 101_000, cost: 0.26 }), fact("t", { ...tool, parent: "c", ...stated(0.0001) })],
      { c: [101_000, 0.26], t: [0, 0.0001] },
    ],
    [
      "a stated cost if nothing below has a price",
      [fact("a", { ...agent, ...stated(0.42) }), fact("c", { parent: "a", tokens: 10 })],
      { a: [0, 0.42], c: [10, 0] },
    ],
    [
      "the remainder of a stated cost",
      [
        fact("a", { ...agent, ...stated(0.42) }),
        fact("c", { parent: "a", tokens: 10, cost: 0.1 }),
        fact("u", { parent: "a", tokens: 5 }),
      ],
      { a: [0, 0.32], c: [10, 0.1], u: [5, 0] },
    ],
    [
      "nothing of a stated cost that is below the sum of the prices below it",
      [
        fact("a", { ...agent, ...stated(0.05) }),
        fact("c", { parent: "a", tokens: 10, cost: 0.1 }),
        fact("u", { parent: "a", tokens: 5 }),
      ],
      { a: [0, 0], c: [10, 0.1], u: [5, 0] },
    ],
    [
      "nothing of a wrapper whose calls all have a price, whatever the cost of its tools",
      [
        fact("a", { ...agent, tokens: 15, ...stated(0.42) }),
        fact("c", { parent: "a", tokens: 10, cost: 0.1 }),
        fact("t", { ...tool, parent: "a", ...stated(0.01) }),
      ],
      { a: [0, 0], c: [10, 0.1], t: [0, 0.01] },
    ],
    [
      "a wrapper with only tools below, which states their total",
      [fact("a", { ...agent, tokens: 15, ...stated(0.42) }), fact("t", { ...tool, parent: "a", ...stated(0.02) })],
      { a: [15, 0.4], t: [0, 0.02] },
    ],
    [
      "no cost computed from restated tokens",
      [fact("a", { ...agent, tokens: 10, cost: 0.3 }), fact("c", { parent: "a", tokens: 10 })],
      { a: [0, 0], c: [10, null] },
    ],
    [
      "a model call below a model call",
      [
        fact("o", { tokens: 10, cost: 0.1 }),
        fact("x", { ...tool, parent: "o" }),
        fact("i", { parent: "x", tokens: 4, cost: 0.04 }),
      ],
      { o: [0, 0], x: [0, null], i: [4, 0.04] },
    ],
    [
      "a call above a tool that states tokens",
      [fact("c", { tokens: 10, cost: 0.1 }), fact("t", { ...tool, parent: "c", tokens: 3, ...stated(0.01) })],
      { c: [10, 0.1], t: [3, 0.01] },
    ],
    [
      "an unpriced call above a tool that states tokens and a cost",
      [fact("c", { tokens: 10 }), fact("t", { ...tool, parent: "c", tokens: 3, ...stated(0.01) })],
      { c: [10, null], t: [3, 0.01] },
    ],
    [
      "a wrapper above attempts, one of which failed without usage",
      [fact("a", { ...agent, ...stated(0.42) }), fact("f", { parent: "a", is_failed: true, ...stated(0) })],
      { a: [0, 0.42], f: [0, 0] },
    ],
    [
      "a call that was retried below itself",
      [
        fact("c", { tokens: 10, ...stated(0.1) }),
        fact("f", { parent: "c", is_failed: true }),
        fact("g", { parent: "c", tokens: 10, cost: 0.09 }),
      ],
      { c: [0, 0], f: [0, null], g: [10, 0.09] },
    ],
    [
      "wrappers above a wrapper that covers its call",
      [
        fact("w", { log_type: "workflow", ...stated(1) }),
        fact("a", { ...agent, parent: "w", ...stated(0.42) }),
        fact("c", { parent: "a", tokens: 10 }),
        fact("u", { parent: "w", tokens: 10 }),
      ],
      { w: [0, 0.58], a: [0, 0.42], c: [10, 0], u: [10, 0] },
    ],
    [
      "zeros of wrappers, which carry no information",
      [fact("a", { ...agent, tokens: 0, ...stated(0) }), fact("c", { parent: "a", tokens: 10 })],
      { a: [0, 0], c: [10, null] },
    ],
    [
      "two spans that are each other's parent, which restate nothing, and a call below them, which restates both",
      [
        fact("a", { parent: "b", tokens: 10, cost: 1 }),
        fact("b", { parent: "a", tokens: 20, cost: 2 }),
        fact("o", { parent: "o", tokens: 5, cost: 3 }),
      ],
      { a: [10, 1], b: [20, 2], o: [5, 3] },
    ],
    [
      "a span below a cycle",
      [
        fact("a", { parent: "b", tokens: 10, cost: 1 }),
        fact("b", { parent: "a", tokens: 20, cost: 2 }),
        fact("c", { parent: "b", tokens: 5, cost: 3 }),
      ],
      { a: [0, 0], b: [0, 0], c: [5, 3] },
    ],
  ];
  test.each(cases)("M3: %s", (_name, facts, expected) => expect(counted(facts)).toEqual(expected));
});

describe("one call counts once", () => {
  test("M5: siblings with the same response id", () => {
    const answer = { response_id: "msg_1", tokens: 57 };
    const facts = [
      fact("w", agent),
      fact("v", { parent: "w", ...answer, cost: 0.1, has_content: false }),
      fact("s", { parent: "w", ...answer, cost: 0.1 }),
    ];
    expect(counted(facts)).toEqual({ w: [0, null], v: [0, 0], s: [57, 0.1] });
  });

  test("M5: the same response in two branches, under two spellings of the model, priced in one", () => {
    const facts = [
      fact("w", agent),
      fact("x", { parent: "w", response_id: "r", model: "openai/gpt-4o-2024-08-06", tokens: 5 }),
      fact("y", { ...agent, parent: "w", tokens: 5 }),
      fact("z", { parent: "y", response_id: "r", tokens: 5, cost: 0.1, has_content: false }),
    ];
    expect(counted(facts)).toEqual({ w: [0, null], x: [0, 0], y: [0, null], z: [5, 0.1] });
  });

  test.each([
    ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", "anthropic/claude-sonnet-4-5"],
    ["anthropic.claude-opus-4-6-v1", "claude-opus-4-6"],
    ["bedrock/us-gov.anthropic.claude-3-sonnet-20240229-v1:0:200k", "claude-3-sonnet"],
    [
      "arn:aws:bedrock:us-east-1:1:inference-profile/global.anthropic.claude-haiku-4-5-20251001-v1:0",
      "claude-haiku-4-5@20251001",
    ],
    ["openrouter/anthropic/claude-sonnet-4.5", "claude-sonnet-4-5-20250929"],
    ["claude-3-5-sonnet-latest", "claude-3-5-sonnet-20241022"],
    ["claude-sonnet-4-5@default", "vertex_ai/claude-sonnet-4-5"],
    ["amazon.nova-pro-v1:0", "Nova-Pro"],
    ["models/gemini-2.5-pro", "gemini-2.5-pro"],
  ])("M5: siblings with one response id, %s and %s, are one call", (requested, answered) => {
    const answer = { parent: "w", response_id: "msg_1", tokens: 57, cost: 0.1 };
    const facts = [
      fact("w", agent),
      fact("v", { ...answer, model: requested }),
      fact("s", { ...answer, model: answered }),
    ];
    expect(Object.values(counted(facts)).filter(([tokens]) => tokens === 57)).toHaveLength(1);
    expect(Object.values(counted(facts)).filter(([tokens]) => tokens === 0)).toHaveLength(2);
  });

  test.each([
    ["gpt-4.1", "gpt-4.1-mini"],
    ["claude-sonnet-4-5", "claude-sonnet-4"],
    ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", "us.anthropic.claude-haiku-4-5-20251001-v1:0"],
    ["llama3:8b", "llama3:70b"],
    ["ft:gpt-4o:acme::a", "ft:gpt-4o:acme::b"],
    ["embed-v3", "embed-v4"],
  ])("M5: %s and %s are two calls, despite equal response ids", (one, other) => {
    const answer = { response_id: "msg_1", tokens: 57 };
    const facts = [fact("v", { ...answer, model: one }), fact("s", { ...answer, model: other })];
    expect(Object.values(counted(facts)).map(([tokens]) => tokens)).toEqual([57, 57]);
  });

  test("M5: another response id, another model, and responses without an id are other calls", () => {
    const facts = [
      fact("a", { response_id: "r1", tokens: 1 }),
      fact("b", { response_id: "r2", tokens: 1 }),
      fact("c", { response_id: "r1", model: "gpt-4o-mini", tokens: 1 }),
      fact("d", { tokens: 1 }),
      fact("e", { tokens: 1 }),
    ];
    expect(Object.values(counted(facts)).map(([tokens]) => tokens)).toEqual([1, 1, 1, 1, 1]);
  });

  test("M5: every span of the gateway is a separate call, whatever its response id", () => {
    const answer = { response_id: "constant", tokens: 7, cost: 0.7 };
    const facts = [1, 2, 3].flatMap((call) => [
      fact(`c${call}`, answer),
      fact(`g${call}`, { ...answer, parent: `c${call}`, is_gateway: true }),
    ]);
    expect(counted(facts)).toMatchObject({
      c1: [0, 0],
      c2: [0, 0],
      c3: [0, 0],
      g1: [7, 0.7],
      g2: [7, 0.7],
      g3: [7, 0.7],
    });
  });

  test("M5: a vendor's report without content counts with the sibling that encloses it, and only then", () => {
    const usage = { tokens: 57, cost: 0.1 };
    const outer = {
      ...usage,
      scope_name: "openllmetry",
      start_time: "2026-01-01 00:00:00",
      timestamp: "2026-01-01 00:00:10",
    };
    const vendor = { ...usage, scope_name: "com.vendor", has_content: false };
    const within = { start_time: "2026-01-01 00:00:01", timestamp: "2026-01-01 00:00:09" };
    const facts = [
      fact("o", outer),
      fact("in", { ...vendor, ...within }),
      fact("late", { ...vendor, start_time: "2026-01-01 00:00:01", timestamp: "2026-01-01 00:00:11" }),
      fact("told", { ...vendor, ...within, has_content: true }),
      fact("same", { ...vendor, ...within, start_time: "2026-01-01 00:00:00.5", scope_name: "openllmetry" }),
      fact("other", { ...vendor, ...within, prompt_tokens: 56 }),
      fact("below", { ...vendor, ...within, parent: "elsewhere" }),
    ];
    const tokens = Object.entries(counted(facts)).filter(([, [count]]) => count === 0);
    expect(tokens.map(([name]) => name)).toEqual(["in"]);
  });

  test("M5: a span that names a span of the gateway is that call, if it exists", () => {
    const facts = [
      fact("w", { ...agent, tokens: 5, ...stated(0.3) }),
      fact("n", { parent: "w", tokens: 5, cost: 0.2, gateway_log_id: idOf("g") }),
    ];
    expect(counted(facts)).toEqual({ w: [0, 0], n: [5, 0.2] });
    const known = { ...nowhere, isGatewayCall: (id: string) => id === idOf("g") };
    expect(counted(facts, known)).toEqual({ w: [0, 0], n: [0, 0] });
  });
});

describe("customers and threads", () => {
  const customers = (facts: readonly UsageFact[], outside = nowhere as Parameters<typeof countUsage>[1]) =>
    Object.fromEntries(
      countUsage(facts, outside).map(({ customer_identifier }, index) => [
        facts[index]!.span_unique_id,
        customer_identifier,
      ]),
    );

  test("M8: taken from the nearest above, then the root, then the earliest", () => {
    const facts = [
      fact("lost", { parent: "gone" }),
      fact("root", { customer_identifier: "a" }),
      fact("x", { parent: "root" }),
      fact("y", { parent: "x", customer_identifier: "b" }),
      fact("z", { parent: "y" }),
    ];
    expect(customers(facts)).toEqual({ lost: "a", root: "a", x: "a", y: "b", z: "b" });
    const [lost, ...rest] = facts.map((one) => ({
      ...one,
      ...(one.span_unique_id === "root" && { customer_identifier: "" }),
    }));
    expect(customers([lost!, ...rest])).toEqual({ lost: "b", root: "b", x: "b", y: "b", z: "b" });
  });

  test("M5: a gateway span counts for the customer of the span that names it, here or in another trace", () => {
    const facts = [
      fact("root"),
      fact("n", { parent: "root", customer_identifier: "c", gateway_log_id: idOf("g") }),
      fact("g", { is_gateway: true }),
      fact("h", { is_gateway: true }),
    ];
    const reporter = (id: string) =>
      id === idOf("h") ? { customer_identifier: "d", thread_identifier: "" } : undefined;
    expect(customers(facts, { ...nowhere, reporter })).toEqual({ root: "c", n: "c", g: "c", h: "d" });
  });
});

test("M3: no order of arrival changes what counts, no call counts twice, and nothing counts below zero", () => {
  const names = ["a", "b", "c", "d", "e", "f", "g"];
  const anySpan = fc.record({
    parent: fc.constantFrom("", "gone", ...names),
    log_type: fc.constantFrom("chat", "agent", "tool", "workflow", "generation"),
    tokens: fc.option(fc.integer({ min: 0, max: 9 }), { nil: undefined }),
    cost: fc.option(fc.integer({ min: 0, max: 9 }), { nil: null }),
    is_stated: fc.boolean(),
    is_gateway: fc.boolean(),
    is_failed: fc.boolean(),
    has_content: fc.boolean(),
    response_id: fc.constantFrom("", "r1", "r2"),
    scope_name: fc.constantFrom("", "s1", "s2"),
    customer_identifier: fc.constantFrom("", "k1", "k2"),
    gateway_log_id: fc.constantFrom("", idOf("a"), idOf("b")),
  });
  fc.assert(
    fc.property(
      fc.array(anySpan, { minLength: 1, maxLength: names.length }),
      fc.infiniteStream(fc.nat()),
      (spans, keys) => {
        const facts = spans.map((span, index) => fact(names[index]!, span));
        const order = facts.map((one) => ({ one, key: keys.next().value! })).sort((a, b) => a.key - b.key);
        const shuffled = order.map(({ one }) => one);
        const counts = countUsage(facts, nowhere);
        const others = countUsage(shuffled, nowhere);
        for (const [index, one] of facts.entries()) {
          expect(others[shuffled.indexOf(one)]).toEqual(counts[index]);
          expect(counts[index]!.cost ?? 0).toBeGreaterThanOrEqual(0);
          expect(counts[index]!.cost ?? 0).toBeLessThanOrEqual(one.cost ?? 0);
        }
        expect(isPlain(facts) ? counts : facts.map(ownCount)).toEqual(facts.map(ownCount));
        const owners = new Set(counts.map(({ customer_identifier }) => customer_identifier));
        expect(owners.has("") && owners.size > 1).toBe(false);
      },
    ),
    { numRuns: 2000 },
  );
});

test("M5: a trace with spans of very many instrumentations is counted quickly", () => {
  const usage = { parent: "p", tokens: 2, has_content: false };
  const facts = Array.from({ length: 30_000 }, (_, index) => fact(`s${index}`, { ...usage, scope_name: `x${index}` }));
  const started = performance.now();
  countUsage(facts, nowhere);
  expect(performance.now() - started).toBeLessThan(5000);
});

test("M5: a repetition within a span of any other instrumentation is found, whichever ends last", () => {
  const report = (
    name: string,
    scope_name: string,
    [start, end]: [number, number],
    has_content: boolean,
  ): UsageFact => ({
    ...fact(name, { parent: "p", tokens: 5, has_content, scope_name }),
    start_time: `2026-01-01 00:00:0${start}`,
    timestamp: `2026-01-01 00:00:0${end}`,
  });
  const inner = report("inner", "a", [3, 4], false);
  const longOfSame = report("long", "a", [1, 9], true);
  const shortOfOther = report("short", "b", [2, 5], true);
  const third = report("third", "c", [1, 3], true);
  expect(counted([longOfSame, inner])["inner"]).toEqual([5, null]);
  expect(counted([longOfSame, third, inner])["inner"]).toEqual([5, null]);
  expect(counted([longOfSame, shortOfOther, third, inner])["inner"]?.[0]).toBe(0);
});
