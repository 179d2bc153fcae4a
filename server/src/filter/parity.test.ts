import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { SpanRow } from "../domain/span.ts";
import { rawJson } from "../lib/json.ts";
import { compileMatcher } from "./match.ts";
import { indexMetadata } from "./metadata-index.ts";
import { parseFilters } from "./parse.ts";
import { createScoreSources, type ScoredSpan } from "./score-sources.ts";
import { createSpanCatalogue } from "./span-fields.ts";
import type { SpanTable } from "./span-table.fixture.ts";
import { openSpanTable } from "./span-table.fixture.ts";
import { escapeRegExp, foldedRe2Pattern } from "./text.ts";

/** Both interpreters must agree on every row: one reads the rows in memory, the other a real table. */

const catalogue = createSpanCatalogue();
let table: SpanTable;

beforeAll(async () => {
  table = await openSpanTable(catalogue);
});

afterAll(async () => {
  await table.close();
});

// Characters on which two implementations often differ: case pairs outside ASCII, expanding and one-way mappings, pairs
// younger than RE2's tables, both sides of the surrogates, pattern and JSON syntax.
const characters = Array.from(
  "aAkKKsSſßẞςσΣiIİıéÉeЖж\u0301ᏸᏰꭰᎠაᲐǆǅǄ𐐀𐐨😀\uE000\uFFFDƛƛ" +
    `%_\\"'{}[]()*.^$|?+/-019 ,:nubTfr\n\t\r\b\u001f\u0001\u2028`,
);
const oddText = fc.string({ unit: fc.constantFrom(...characters), maxLength: 5 });
const numericText = fc.constantFrom(
  "10",
  "9",
  "10.0",
  "1e1",
  "1E+1",
  "007",
  "-5",
  "-0",
  "0",
  "1e400",
  "0.1",
  "0.10",
  "+5",
  ".5",
);
const longNumber = fc.constantFrom("9007199254740992", "9007199254740993", "1234567890123456789");
const plainText = fc.constantFrom(
  "gpt-4o",
  "GPT-4o",
  "success",
  "failed",
  "error",
  "true",
  "false",
  "prod",
  "null",
  "",
);
const text = fc.oneof({ weight: 4, arbitrary: oddText }, numericText, longNumber, plainText);

const someNumber = fc.oneof(
  fc.constantFrom(0, -0, 1, 9, 10, 200, 400, 404, 0.1, 1e21, 1e-7),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const scalar = fc.oneof(
  text,
  someNumber,
  fc.boolean(),
  longNumber.map((digits) => rawJson(digits)),
);
const metadataKey = fc.constantFrom("a", "b", "a.b", "a__b", "k'\"%", "ключ", "__proto__", "_secret");
const { tree: metadata } = fc.letrec<{ tree: Record<string, unknown>; value: unknown }>((tie) => ({
  tree: fc.dictionary(metadataKey, tie("value"), { maxKeys: 4 }),
  value: fc.oneof({ maxDepth: 3 }, scalar, fc.constant(null), fc.array(scalar, { maxLength: 3 }), tie("tree")),
}));
const writers: Array<(value: unknown) => string> = [
  (value) => JSON.stringify(value),
  (value) => JSON.stringify(value).replace(/[^\0-\x7f]/g, (unit) => hexEscape(unit)),
  (value) =>
    JSON.stringify(value).replace(/[<>&'+/]/g, (unit) =>
      unit === "/" ? "\\/" : hexEscape(unit).toUpperCase().replace("U", "u"),
    ),
];
const hexEscape = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
/** Plain text, or text within JSON, up to one level deeper than searches cover. */
const content = fc
  .tuple(text, fc.array(fc.constantFrom(...writers), { maxLength: 3 }))
  .map(([said, levels]) => levels.reduce((inner, write) => write({ said: inner }), said));
const messages = fc.array(fc.record({ role: fc.constantFrom("user", "tool"), content }), { maxLength: 2 });
const time = fc
  .tuple(
    fc.constantFrom("2025-01-01 00:00:00", "2025-06-01 12:00:00"),
    fc.constantFrom("000000000", "000000001", "999999999"),
  )
  .map((parts) => parts.join("."));

const required = ["organization_id", "environment", "timestamp", "unique_id", "version", "start_time"] as const;
const integer = fc.constantFrom(0, 1, 9, 10, 200, 400, 404, "9007199254740993");
const flag = fc.constantFrom(null, true, false);
const row = fc
  .record(
    {
      organization_id: fc.constant("org"),
      environment: fc.constantFrom("prod", "test"),
      timestamp: time,
      start_time: time,
      unique_id: fc.uuid(),
      version: fc.constant("1"),
      model: text,
      customer_identifier: text,
      span_parent_id: text,
      status: fc.constantFrom("success", "failed"),
      status_code: integer,
      total_tokens: integer,
      cost: fc.option(someNumber),
      stream: flag,
      tool_calls: fc.constantFrom("", [], [{ id: "1" }]),
      input: fc.oneof(
        text,
        messages.map((list) => JSON.stringify(list)),
      ),
      prompt_messages: messages,
      completion_message: fc.record({ content: text }),
      metadata,
    },
    { requiredKeys: [...required] },
  )
  .map((value): SpanRow => {
    const visible = Object.fromEntries(Object.entries(value.metadata ?? {}).filter(([key]) => !key.startsWith("_")));
    return Object.assign(value, { metadata: visible, metadata_index: indexMetadata(value.metadata ?? {}) });
  });

const textOperators = [
  "",
  "not",
  "in",
  "not_in",
  "iexact",
  "contains",
  "not_contains",
  "icontains",
  "startswith",
  "endswith",
];
const orderings = ["lt", "lte", "gt", "gte"];
const nullTest = fc.boolean().map((value) => ({ operator: "isnull", value: [value] }));

function condition(values: fc.Arbitrary<unknown>, many: readonly string[], single: readonly string[]) {
  return fc.oneof(
    nullTest,
    fc.record({
      operator: fc.constantFrom(...many),
      value: fc.oneof(
        { weight: 15, arbitrary: fc.array(values, { minLength: 1, maxLength: 3 }) },
        fc.array(values, { minLength: 9, maxLength: 12 }),
      ),
      connector: fc.constantFrom("AND", "OR"),
    }),
    ...(single.length === 0 ? [] : [fc.record({ operator: fc.constantFrom(...single), value: values })]),
  );
}

/** Pieces of stored texts in another case, so that conditions match about half of the time. */
function pieceOf(texts: readonly string[]): fc.Arbitrary<string> {
  const changes: Array<(part: string) => string> = [
    (part) => part,
    (part) => part.toLowerCase(),
    (part) => part.toUpperCase(),
    (part) => part.replace(/k/gi, "\u212A").replace(/s/gi, "\u017F").replace(/[σς]/g, "Σ").replace(/ß/g, "ẞ"),
  ];
  const whole = fc.constantFrom(...texts.filter((one) => one !== ""));
  const slice = fc.tuple(whole, fc.nat(3), fc.nat(3)).map(([one, start, length]) =>
    Array.from(one)
      .slice(start, start + length + 1)
      .join(""),
  );
  return fc.tuple(fc.oneof(whole, slice), fc.constantFrom(...changes)).map(([part, change]) => change(part));
}

function innermost(text: string): string {
  return text.startsWith('{"said":') ? innermost((JSON.parse(text) as { said: string }).said) : text;
}

function filters(rows: readonly SpanRow[]): fc.Arbitrary<Record<string, unknown>> {
  const textValue = fc.oneof(
    text,
    pieceOf(rows.flatMap((one) => [one.model ?? "", one.customer_identifier ?? ""])),
    pieceOf(rows.flatMap((one) => Object.values(one.metadata_index ?? {}))),
  );
  const contents = rows.flatMap((one) => (one.prompt_messages as Array<{ content: string }> | undefined) ?? []);
  const said = pieceOf(contents.map((message) => innermost(message.content)));
  const id = fc.oneof(text, fc.constantFrom(...rows.flatMap((one) => [one.unique_id, one.unique_id.toUpperCase()])));
  const textField = condition(textValue, textOperators, orderings);
  const payloadField = fc.oneof(textField, condition(said, ["contains", "icontains", "not_icontains"], []));
  const numberField = condition(fc.oneof(someNumber, fc.constantFrom("10", "1e21")), ["", "not", "in"], orderings);
  const booleanField = condition(fc.constantFrom(true, false, "true", 0), ["", "not", "in"], []);
  const timeField = condition(fc.oneof(time, fc.constant("2025-01-01T00:00:00Z")), ["", "not", "in"], orderings);
  const dynamicField = condition(fc.oneof(textValue, someNumber, fc.boolean()), textOperators, orderings);
  const fields: Record<string, fc.Arbitrary<unknown>> = {
    unique_id: condition(id, textOperators, orderings),
    timestamp: timeField,
    start_time: timeField,
  };
  for (const name of ["model", "customer_identifier", "span_parent_id", "status", "environment"])
    fields[name] = textField;
  for (const name of ["input", "prompt_messages", "messages", "metadata"]) fields[name] = payloadField;
  for (const name of ["status_code", "total_tokens", "cost", "latency", "error_count"]) fields[name] = numberField;
  for (const name of ["stream", "failed", "is_root_span", "has_tool_calls"]) fields[name] = booleanField;
  for (const key of ["a", "b", "a.b", "a__b", "a__a__b", "k'\"%", "ключ", "b____proto__"]) {
    fields[`metadata__${key}`] = dynamicField;
  }
  fields["scores__judge"] = dynamicField;
  const single = fc
    .constantFrom(...Object.keys(fields))
    .chain((name) => (fields[name] ?? fc.constant("")).map((value) => ({ [name]: value })));
  const bundle = fc.record({
    connector: fc.constantFrom("AND", "OR"),
    filter_params: fc.array(single, { minLength: 1, maxLength: 3 }),
  });
  return fc.oneof(
    { weight: 4, arbitrary: single },
    bundle,
    fc.array(single, { minLength: 2, maxLength: 4 }).map(merge),
  );
}

function merge(parts: ReadonlyArray<Record<string, unknown>>): Record<string, unknown> {
  return Object.assign({}, ...parts);
}

describe("the two interpreters", () => {
  test("agree on every row and filter", async () => {
    const rows = fc.sample(row, { numRuns: 300, seed: 20_250_101 });
    await table.insert(rows);
    let matching = 0;
    let checked = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(filters(rows), { minLength: 30, maxLength: 30 }), async (inputs) => {
        const trees = inputs.map((input) => parseFilters(input, catalogue).filter);
        const matchers = trees.map((tree) => compileMatcher(tree, catalogue));
        const expected = await table.verdicts(trees);
        expect(expected.size).toBe(rows.length);
        for (const one of rows) {
          const verdicts = expected.get(one.unique_id) ?? [];
          for (const [index, matches] of matchers.entries()) {
            checked += 1;
            const matched = matches(one) ? 1 : 0;
            matching += matched;
            if (matched === verdicts[index]) continue;
            expect.fail(
              `in memory ${matched}, in the table ${String(verdicts[index])}: ${JSON.stringify(inputs[index])} on ${JSON.stringify(one)}`,
            );
          }
        }
      }),
      { numRuns: 100, endOnFailure: true },
    );
    // The generator is useful only if both outcomes occur.
    expect(matching / checked).toBeGreaterThan(0.1);
    expect(matching / checked).toBeLessThan(0.9);
  });

  test("agree on scores, by the id and the slug of their evaluator", async () => {
    const catalogueOfScores = createSpanCatalogue(createScoreSources());
    const scored = fc.record({ row, text: fc.option(fc.oneof(text, someNumber.map(String)), { nil: undefined }) });
    const rows = fc.sample(scored, { numRuns: 200, seed: 20_250_102 }).map(({ row: one, text: said }): ScoredSpan => {
      // The id comes first, so `evaluator_id` reads it.
      const scores = said === undefined ? {} : { judge_1: said, judge: said };
      return { ...one, organization_id: "scored", scores };
    });
    await table.insert(rows.map(({ scores: _scores, ...one }) => one));
    const copies = rows.flatMap(({ unique_id, scores = {} }) => {
      const key = { organization_id: "scored", unique_id, evaluator_id: "judge_1", evaluator_slug: "judge" };
      return "judge" in scores ? [{ ...key, text: scores["judge"] }] : [];
    });
    await table.insertScores([
      ...copies,
      // Scores of another organization and of another evaluator do not affect these rows.
      ...rows.flatMap(({ unique_id }) => [
        { organization_id: "other", unique_id, evaluator_id: "judge_1", evaluator_slug: "judge", text: "10" },
      ]),
    ]);
    const values = fc.oneof(text, pieceOf(copies.map((copy) => copy.text ?? "")), someNumber, fc.boolean());
    const score = condition(values, textOperators, orderings);
    const evaluator = condition(fc.constantFrom("judge_1", "judge", "1"), textOperators, []);
    const input = fc.oneof(
      fc.record({ scores__judge: score }),
      fc.record({ scores__judge_1: score, model: condition(text, textOperators, []) }),
      fc.record({ scores__nobody: score }),
      fc.record({ evaluator_id: evaluator }),
    );
    let matching = 0;
    for (const inputs of fc.sample(fc.array(input, { minLength: 30, maxLength: 30 }), { numRuns: 30, seed: 7 })) {
      const trees = inputs.map((one) => parseFilters(one, catalogueOfScores).filter);
      const matchers = trees.map((tree) => compileMatcher(tree, catalogueOfScores));
      const expected = await table.verdicts(trees, { catalogue: catalogueOfScores, organizationId: "scored" });
      for (const one of rows) {
        const inMemory = matchers.map((matches) => (matches(one) ? 1 : 0));
        matching += inMemory.filter((verdict) => verdict === 1).length;
        for (const [index, verdict] of inMemory.entries()) {
          if (verdict === expected.get(one.unique_id)?.[index]) continue;
          expect.fail(`in memory ${verdict}: ${JSON.stringify(inputs[index])} on ${JSON.stringify(one.scores)}`);
        }
      }
    }
    expect(matching / (rows.length * 30 * 30)).toBeGreaterThan(0.1);
    expect(matching / (rows.length * 30 * 30)).toBeLessThan(0.9);
  });

  test("fold the case of every letter alike", async () => {
    const pairs = casePairs();
    expect(pairs.length).toBeGreaterThan(2_000);
    await table.client.command({ query: "CREATE TABLE pairs (a String, pattern String) ENGINE = Memory" });
    const values = pairs.map(([a, b]) => ({ a, pattern: `(?is)^${foldedRe2Pattern(b)}$` }));
    await table.client.insert({ table: "pairs", values, format: "JSONEachRow" });
    const result = await table.client.query({
      query: "SELECT match(a, pattern) AS same FROM pairs",
      format: "JSONEachRow",
    });
    const verdicts = await result.json<{ same: number }>();
    const different = pairs.filter(([a, b], index) => {
      const inMemory = new RegExp(`^${escapeRegExp(b)}$`, "ius").test(a);
      return inMemory !== (verdicts[index]?.same === 1);
    });
    expect(different).toEqual([]);
  });
});

/** Every pair of distinct characters that some case mapping connects, in both directions. */
function casePairs(): Array<[string, string]> {
  const related = new Map<string, Set<string>>();
  for (let code = 0; code < 0x110000; code += 1) {
    if (code >= 0xd800 && code < 0xe000) continue;
    const character = String.fromCodePoint(code);
    const lower = character.toLowerCase();
    const upper = character.toUpperCase();
    if (lower === character && upper === character) continue;
    for (const key of [lower, upper, lower.toUpperCase(), upper.toLowerCase()]) {
      related.set(key, (related.get(key) ?? new Set([key])).add(character));
    }
  }
  const pairs = new Map<string, [string, string]>();
  for (const group of related.values()) {
    const single = [...group].filter((member) => Array.from(member).length === 1);
    for (const a of single) for (const b of single) if (a !== b) pairs.set(`${a} ${b}`, [a, b]);
  }
  return [...pairs.values()];
}
