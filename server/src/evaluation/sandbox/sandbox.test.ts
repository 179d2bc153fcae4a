import { availableParallelism } from "node:os";
import { performance } from "node:perf_hooks";
import { afterAll, describe, expect, test } from "vitest";
import { createSandbox } from "./sandbox-pool.ts";

const sandbox = createSandbox({
  threads: 2,
  queued: 200,
  timeMs: 250,
  graceMs: 30_000,
  memoryBytes: 16 * 2 ** 20,
  stackBytes: 256 * 1024,
  resultChars: 1_000,
});
afterAll(() => sandbox.stop());

const { signal } = new AbortController();
const run = (code: string, inputs: unknown = {}, organizationId = "org") =>
  sandbox.run({ kind: "code", code, inputs: JSON.stringify(inputs) }, organizationId, signal);
const value = async (code: string, inputs?: unknown): Promise<unknown> => {
  const result = await run(code, inputs);
  return result.ok ? (JSON.parse(result.json) as unknown) : result.error;
};

test("endless code of one organization delays another's by at most one run", async () => {
  const endless = Array.from({ length: 12 }, () => run("const main = () => { for (;;); }", {}, "hog"));
  let endlessDone = 0;
  for (const one of endless) void one.then(() => (endlessDone += 1));
  expect(await run("const main = () => 1", {}, "guest")).toEqual({ ok: true, json: "1" });
  // Both threads were running one, and each may have started another.
  expect(endlessDone).toBeLessThanOrEqual(4);
  await Promise.all(endless);
});

describe("code", () => {
  test("returns the result of main, or of its promise", async () => {
    expect(await value("function main(inputs) { return inputs.output.length }", { output: "four" })).toBe(4);
    expect(await value("const main = async ({ output }) => ({ score: await output })", { output: 0.5 })).toEqual({
      score: 0.5,
    });
  });

  test.each([
    ["throws", "function main() { throw new TypeError('no such thing') }", "TypeError: no such thing"],
    ["is no JavaScript", "def main(eval_inputs):\n  return 1", /SyntaxError/],
    ["has no main", "const score = 1", /no function main/],
    ["returns nothing", "function main() {}", /nothing that JSON can say/],
    ["returns too much", "const main = () => 'x'.repeat(2000)", /2002 characters/],
    ["never settles", "const main = () => new Promise(() => {})", /nothing settles/],
    ["recurses", "function main() { return main() }", /stack overflow/],
  ])("that %s fails with a reason", async (_what, code, error) => {
    expect(await run(code)).toEqual({ ok: false, error: expect.stringMatching(error) });
  });

  test.each([
    ["loops", "function main() { for (;;); }"],
    ["loops before main", "for (;;);"],
    ["loops over promises", "async function main() { for (;;) await 1 }"],
    ["catches its interruption", "function main() { for (;;) try { for (;;); } catch {} }"],
    ["loops while it is described", "function main() { throw { get message() { for (;;); } } }"],
    ["backtracks", "const main = () => /^(a+)+$/.test('a'.repeat(50) + 'b')"],
    ["fills memory", "function main() { const kept = []; for (;;) kept.push(new Array(1000).fill(kept.length)) }"],
    ["doubles a text", "function main() { let text = 'x'; for (;;) text += text }"],
    ["nests deeply", "function main() { let deep = []; for (let i = 0; i < 1e5; i++) deep = [deep]; return deep }"],
  ])("that %s is stopped, and others run on", async (_what, code) => {
    const beganMs = performance.now();
    const [stopped, other] = await Promise.all([run(code), value("const main = () => 1")]);
    expect(stopped.ok).toBe(false);
    expect(other).toBe(1);
    expect(performance.now() - beganMs).toBeLessThan(6_000);
    expect(await value("const main = () => 2")).toBe(2);
  });

  test("has the language and nothing else", async () => {
    const names = [
      "process",
      "require",
      "fetch",
      "XMLHttpRequest",
      "WebSocket",
      "setTimeout",
      "console",
      "std",
      "os",
      "Deno",
    ];
    expect(
      await value(
        `const main = () => ${JSON.stringify(names)}.filter((name) => typeof globalThis[name] !== "undefined")`,
      ),
    ).toEqual([]);
    expect(await value("const main = () => import('node:fs')")).toMatch(/could not load module/);
  });

  test("of one run leaves nothing for the next", async () => {
    await value("globalThis.left = 1; Array.prototype.map = () => 'taken'; const main = () => 1");
    const runs = Array.from({ length: 4 }, () => value("const main = () => [typeof left, [1].map((each) => each)]"));
    expect(await Promise.all(runs)).toEqual(Array.from({ length: 4 }, () => ["undefined", [1]]));
  });

  test("does not block the event loop", async () => {
    const before = process.threadCpuUsage();
    await Promise.all(Array.from({ length: 4 }, () => run("function main() { for (;;); }")));
    const { user, system } = process.threadCpuUsage(before);
    // Each of them runs for 250 ms.
    expect((user + system) / 1_000).toBeLessThan(250);
  });

  test("gets its CPU time, however many others compete", async () => {
    const bounds = { queued: 100, graceMs: 20_000, memoryBytes: 2 ** 24, stackBytes: 2 ** 18, resultChars: 100 };
    const busy = "const main = () => { let n = 0; for (let k = 0; k < 1e6; k++) n += k % 7; return n }";
    const task = { kind: "code", code: busy, inputs: "{}" } as const;
    const alone = createSandbox({ ...bounds, threads: 1, timeMs: 20_000 });
    await alone.run(task, "org", signal);
    const started = performance.now();
    await alone.run(task, "org", signal);
    const aloneMs = performance.now() - started;
    await alone.stop();
    // More at a time than fit into twice the time of one.
    const threads = 4 * availableParallelism();
    const crowd = createSandbox({ ...bounds, threads, timeMs: 2 * aloneMs });
    const results = await Promise.all(Array.from({ length: threads }, () => crowd.run(task, "org", signal)));
    expect(results.filter(({ ok }) => !ok)).toEqual([]);
    await crowd.stop();
  });
});

describe("K10: the queue", () => {
  const one = { timeMs: 200, graceMs: 20_000, memoryBytes: 2 ** 24, stackBytes: 2 ** 18, resultChars: 100, threads: 1 };
  const quick = { kind: "code", code: "const main = () => 1", inputs: "{}" } as const;
  const endless = { kind: "code", code: "for (;;);", inputs: "{}" } as const;

  test("refuses tasks beyond its limit as transient", async () => {
    const small = createSandbox({ ...one, queued: 1 });
    const results = await Promise.all(Array.from({ length: 3 }, () => small.run(quick, "org", signal)));
    expect(results.filter((result) => result.ok)).toHaveLength(2);
    expect(results[2]).toMatchObject({ ok: false, isTransient: true, isRefused: true });
    await small.stop();
  });

  test("that one organization fills with endless code has room for another's, which is next", async () => {
    const shared = createSandbox({ ...one, queued: 1_000 });
    const leaving = new AbortController();
    const hog = Promise.all(Array.from({ length: 2_000 }, () => shared.run(endless, "hog", leaving.signal)));
    const beganMs = performance.now();
    const guests = await Promise.all(Array.from({ length: 5 }, () => shared.run(quick, "guest", signal)));
    expect(guests).toEqual(guests.map(() => ({ ok: true, json: "1" })));
    // One task of the other organization, which takes a fifth of a second, runs between any two tasks of this one.
    expect(performance.now() - beganMs).toBeLessThan(10_000);
    leaving.abort();
    expect((await hog).filter((result) => "isRefused" in result).length).toBeGreaterThan(1_000);
    await shared.stop();
  });

  test("drops waiting tasks of a caller that left", async () => {
    const shared = createSandbox({ ...one, queued: 10 });
    const leaving = new AbortController();
    const left = Array.from({ length: 8 }, () => shared.run(endless, "org", leaving.signal));
    leaving.abort();
    expect(await shared.run(quick, "org", signal)).toEqual({ ok: true, json: "1" });
    const results = await Promise.all(left);
    expect(results.slice(1)).toEqual(results.slice(1).map(() => expect.objectContaining({ error: "the caller left" })));
    await shared.stop();
  });
});

describe("K4: memory", () => {
  const programs = {
    "typed arrays": "const kept = []; for (;;) kept.push(new Uint8Array(1e6).fill(1))",
    "one large typed array": "new Float64Array(1e9)",
    buffers: "const kept = []; for (;;) kept.push(new ArrayBuffer(3e6))",
    "growing buffers": "const kept = new ArrayBuffer(8, { maxByteLength: 2 ** 30 }); kept.resize(2 ** 30)",
    texts: "const kept = []; for (let i = 0; ; i++) kept.push(('x' + i).repeat(100000))",
    "one long text": "'abcdefgh'.repeat(2 ** 27)",
    "padded text": "''.padEnd(2 ** 29, 'ab')",
    "joined texts": "new Array(1e6).fill('abcdef'.repeat(100)).join('')",
    arrays: "const kept = []; for (;;) kept.push(new Array(1000).fill(kept.length))",
    maps: "const kept = new Map(); for (let i = 0; ; i++) kept.set(i, { i })",
    closures: "let kept = () => 1; for (;;) { const last = kept; kept = () => last }",
    recursion: "const deep = (kept) => [deep([kept, 'x'.repeat(1e5)])]; deep(1)",
    generators:
      "const kept = []; function* one() { yield new Array(100) } for (;;) { const g = one(); g.next(); kept.push(g) }",
    promises: "const kept = []; for (;;) kept.push(new Promise(() => {}).then(() => 1))",
    "a regex": "/^(a|b|ab)*c/.test('ab'.repeat(1e6))",
    "split by a regex": "'a'.repeat(1e7).split(/(?:)/)",
    replacing: "'a'.repeat(1e6).replace(/a/g, () => 'b'.repeat(1e5))",
    JSON: "const kept = {}; for (let i = 0; ; i++) { kept[i] = 'v'.repeat(1e5); JSON.stringify(kept) }",
    "parsed JSON": "JSON.parse('[' + '[1],'.repeat(5e6) + '1]')",
    bigints: "let kept = 2n; for (;;) kept *= kept",
    "the error": "throw { name: 'Error', message: 'x'.repeat(1e7), kept: new Array(1e6).fill('y') }",
  };

  test("of the process stays bounded, whatever programs allocate", async () => {
    const rssMiB = () => process.memoryUsage.rss() / 2 ** 20;
    const bounds = { queued: 1_000, graceMs: 20_000, stackBytes: 2 ** 18, resultChars: 100, timeMs: 500 };
    const pool = createSandbox({ ...bounds, threads: 4, memoryBytes: 48 * 2 ** 20 });
    await Promise.all(
      Array.from({ length: 8 }, () => pool.run({ kind: "code", code: "1", inputs: "{}" }, "org", signal)),
    );
    const beforeMiB = rssMiB();
    let mostMiB = 0;
    const timer = setInterval(() => (mostMiB = Math.max(mostMiB, rssMiB())), 5);
    const runs = Object.entries(programs).map(async ([name, program]) => {
      const code = `const main = () => { ${program} }`;
      return [name, (await pool.run({ kind: "code", code, inputs: "{}" }, "org", signal)).ok];
    });
    expect(await Promise.all(runs)).toEqual(Object.keys(programs).map((name) => [name, false]));
    clearInterval(timer);
    // 4 threads of 64 MiB, as many again that are ending, and their memory outside the engines.
    expect(mostMiB - beforeMiB).toBeLessThan(600);
    expect(await pool.run({ kind: "code", code: "const main = () => 1", inputs: "{}" }, "org", signal)).toEqual({
      ok: true,
      json: "1",
    });
    await pool.stop();
  }, 60_000);

  test("is named as the cause, and is enough for the largest log", async () => {
    const pool = createSandbox({
      threads: 1,
      queued: 9,
      timeMs: 5_000,
      graceMs: 20_000,
      stackBytes: 2 ** 18,
      resultChars: 100,
      memoryBytes: 48 * 2 ** 20,
    });
    const size = "const main = ({ output }) => output.length";
    const inputs = JSON.stringify({ output: "語".repeat(4 * 2 ** 20 - 20) });
    expect(await pool.run({ kind: "code", code: size, inputs }, "org", signal)).toEqual({
      ok: true,
      json: String(4 * 2 ** 20 - 20),
    });
    const code = `const main = () => { ${programs["typed arrays"]} }`;
    expect(await pool.run({ kind: "code", code, inputs: "{}" }, "org", signal)).toEqual({
      ok: false,
      error: "the evaluator used more than 48 MiB of memory",
    });
    await pool.stop();
  });
});

describe("rules", () => {
  const rule = async (config: object, text: string, expected = ""): Promise<unknown> => {
    const result = await sandbox.run({ kind: "rule", rule: asRule(config), text, expected }, "org", signal);
    return result.ok ? (JSON.parse(result.json) as unknown) : result.error;
  };
  /** The tests below write rules in the form of their configuration. */
  const asRule = (config: object) =>
    config as Parameters<typeof sandbox.run>[0] extends infer T ? (T extends { rule: infer R } ? R : never) : never;

  test.each([
    [{ rule: "regex", pattern: "^\\d+$" }, "123", true],
    [{ rule: "regex", pattern: "^\\d+$" }, "12a", false],
    [{ rule: "regex", pattern: "HELLO", flags: "i" }, "say hello", true],
    [{ rule: "contains", text: "yes" }, "oh yes", true],
    [{ rule: "contains", text: "YES" }, "oh yes", false],
    [{ rule: "contains", text: "YES", case_sensitive: false }, "oh yes", true],
    [{ rule: "contains", text: ["a", "z"] }, "abc", true],
    [{ rule: "contains", text: ["a", "z"], match: "all" }, "abc", false],
    [
      { rule: "json_schema", schema: { type: "object", required: ["a"], properties: { a: { type: "integer" } } } },
      '{"a":1}',
      true,
    ],
    [{ rule: "json_schema", schema: { type: "object", required: ["a"] } }, '{"b":1}', false],
    [{ rule: "json_schema", schema: {} }, "not json", false],
    [{ rule: "similarity", expected: "The  same" }, "the same", 1],
    [{ rule: "similarity", expected: "abc" }, "xyz", 0],
    [{ rule: "similarity" }, "night", 0.25],
  ])("%j on %j is %j", async (config, text, result) => {
    expect(await rule(config, text, "nacht")).toBe(result);
  });

  test("that never end are terminated", async () => {
    const evil = { rule: "regex", pattern: "^(a+)+$" };
    expect(await rule(evil, `${"a".repeat(50)}b`)).toMatch(/ran longer/);
    const schema = { rule: "json_schema", schema: { type: "string", pattern: "^(a+)+$" } };
    const beganMs = performance.now();
    expect(await rule(schema, JSON.stringify(`${"a".repeat(50)}b`))).toMatch(/ran longer/);
    // 250 ms of CPU time, without the grace time for a thread that does not get it.
    expect(performance.now() - beganMs).toBeLessThan(15_000);
    const doubling = Array.from({ length: 30 }, (_, i) => {
      const next = { $ref: `#/$defs/d${i + 1}` };
      return [`d${i}`, { allOf: [next, next] }];
    });
    const $defs = Object.fromEntries([...doubling, ["d30", true]]);
    expect(await rule({ rule: "json_schema", schema: { $defs, $ref: "#/$defs/d0" } }, "1")).toMatch(/ran longer/);
    expect(await rule({ rule: "json_schema", schema: { $ref: "#" } }, "1")).toMatch(/failed|ran longer/);
    expect(await rule({ rule: "regex", pattern: "(" }, "")).toMatch(/SyntaxError/);
  });
});
