import fc from "fast-check";
import { expect, test } from "vitest";
import { countedColumns, spanColumns, type ReadColumn } from "../../domain/span.ts";
import { fromByteString, toByteString } from "../../lib/byte-string.ts";
import type { StoredSpan } from "../../storage/spans/span-store.ts";
import { rawWriter } from "./span-member.ts";
import { spanMembers } from "./span-members.ts";

const kinds = { ...spanColumns, ...countedColumns };
const columns = Object.keys(kinds) as ReadColumn[];
const text = fc.oneof(
  fc.constant(""),
  fc.string({ unit: "grapheme" }),
  fc.constantFrom('"\\/\u2028\u2029\n\u0000é漢𝄞', "null"),
);
const valueOf = {
  text,
  json: fc.oneof(
    fc.constant(""),
    fc.json(),
    text.map((value) => JSON.stringify({ value })),
  ),
  uuid: fc.uuid(),
  time: fc.constantFrom(
    "2026-05-05 05:00:00.000000000",
    "2026-05-05 05:00:00.123400000",
    "1999-12-31 23:59:59.000000001",
  ),
  integer: fc.oneof(fc.constant(null), fc.integer(), fc.constantFrom("9223372036854775807", "-9007199254740993")),
  number: fc.oneof(fc.constant(null), fc.double({ noNaN: true, noDefaultInfinity: true })),
  boolean: fc.constantFrom(null, true, false),
  map: fc.constant({}),
};

/**
 * The form in which the engine writes values: integers in quotes, and escapes for two characters that JSON allows
 * unescaped.
 */
function written(value: unknown, kind: string): string {
  const json = kind === "integer" && value !== null ? `"${value as string | number}"` : JSON.stringify(value);
  return toByteString(json.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029"));
}

test("each member has the same value for a raw span and for the span", () => {
  const span = fc.record(Object.fromEntries(columns.map((column) => [column, valueOf[kinds[column]]])));
  const members = Object.entries(spanMembers).map(([name, member]) => ({
    name,
    json: member.json,
    raw: rawWriter(member, columns),
  }));
  fc.assert(
    fc.property(span, (values) => {
      const stored = values as unknown as StoredSpan;
      const raw = columns.map((column) => written(values[column], kinds[column]));
      for (const { name, json, raw: write } of members) {
        const bytes = write(raw);
        expect(bytes).toMatch(/^[\0-\xff]*$/);
        expect([name, JSON.parse(fromByteString(bytes))]).toEqual([name, JSON.parse(json(stored))]);
      }
    }),
    { numRuns: 50 },
  );
});

test("a member of spans that were read without its column throws", () => {
  const { model } = spanMembers;
  expect(() => model && rawWriter(model, ["input"])).toThrow("spans were read without model");
});
