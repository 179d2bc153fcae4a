import { afterAll, beforeAll, expect, test } from "vitest";
import type { SpanRow } from "../domain/span.ts";
import { compileMatcher } from "./match.ts";
import { parseFilters } from "./parse.ts";
import { createSpanCatalogue } from "./span-fields.ts";
import { openSpanTable, type SpanTable } from "./span-table.fixture.ts";

/** Searches for decoded text in JSON that is the content of a string within JSON. */

const catalogue = createSpanCatalogue();
let table: SpanTable;

const call = (args: string) => ({ tool_calls: [{ id: "c", function: { name: "note", arguments: args } }] });
const row = (span_name: string, fields: Partial<SpanRow>, index: number): SpanRow => ({
  organization_id: "org",
  environment: "prod",
  timestamp: "2025-01-01 00:00:00.000000000",
  start_time: "2025-01-01 00:00:00.000000000",
  unique_id: `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`,
  version: "1",
  span_name,
  ...fields,
});

const text = 'Grüße,\n"Zoë" wrote a\\new <b> 😀/日本';
const noted = { note: text };
const ascii = (text: string) =>
  text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
const dotnet = ascii(JSON.stringify(noted))
  .replaceAll('\\"', "\\u0022")
  .replace(/[<>]/g, (unit) => `\\u00${unit.charCodeAt(0).toString(16)}`)
  .replace(/\\u[0-9a-f]{4}/g, (escape) => `\\u${escape.slice(2).toUpperCase()}`);
const mcp = [{ type: "text", text: JSON.stringify(noted) }];

const holding: Record<string, Partial<SpanRow>> = {
  javascript: { completion_message: call(JSON.stringify(noted)) },
  python: { completion_message: call(ascii(JSON.stringify(noted))) },
  php: { completion_message: call(ascii(JSON.stringify(noted)).replaceAll("/", "\\/")) },
  go: { completion_message: call(JSON.stringify(noted).replace("<", "\\u003c").replace(">", "\\u003e")) },
  dotnet: { completion_message: call(dotnet) },
  "JSON in JSON in JSON": { completion_message: { role: "tool", content: JSON.stringify(mcp) } },
  "JSON text in output": { output: JSON.stringify({ answer: JSON.stringify(noted) }) },
  "JSON text as output": { output: ascii(JSON.stringify(noted)) },
  "a JSON string in a message": { completion_message: { role: "assistant", content: JSON.stringify(text) } },
  "the text itself": { completion_message: { role: "assistant", content: text } },
};
const others: Record<string, Partial<SpanRow>> = {
  "a path, no line break": { completion_message: { role: "assistant", content: "a\\new" } },
  "a path in JSON": { completion_message: call(JSON.stringify({ note: "a\\new b\\\\new" })) },
  "a path that begins a string": { completion_message: call(JSON.stringify(["\\new"])) },
  "two letters for one": { output: JSON.stringify({ note: "STRASSE" }) },
  "nothing of it": { completion_message: call(JSON.stringify({ note: "hello" })) },
};
const rows = [...Object.entries(holding), ...Object.entries(others)].map(([name, fields], index) =>
  row(name, fields, index),
);

beforeAll(async () => {
  table = await openSpanTable(catalogue);
  await table.insert(rows);
});

afterAll(async () => {
  await table.close();
});

async function found(operator: string, value: string[]): Promise<string[]> {
  const { filter } = parseFilters({ output: { operator, value } }, catalogue);
  const matches = compileMatcher(filter, catalogue);
  const inTable = await table.find(filter);
  const inMemory = rows.filter(matches).map((one) => one.span_name ?? "");
  expect(inMemory.toSorted()).toEqual(inTable.toSorted());
  return inTable.toSorted();
}

const everyHolder = Object.keys(holding).toSorted();

test.each([
  text,
  "Grüße",
  "üße",
  'Grüße,\n"Zoë"',
  '\n"Zo',
  '"Zoë" wrote',
  "wrote a\\new <b>",
  "\\new <",
  "<b>",
  "😀/日",
  "日本",
])("finds decoded text in JSON within JSON: %j", async (needle) => {
  expect(await found("contains", [needle])).toEqual(everyHolder);
  expect(await found("icontains", [needle])).toEqual(everyHolder);
  expect(await found("contains", ["is nowhere", needle])).toEqual(everyHolder);
});

test.each(["GRÜSSE", "grüße, \n", '\n"ZOË" WROTE', "A\\NEW <B>"])("only icontains ignores case: %j", async (needle) => {
  expect(await found("contains", [needle])).toEqual([]);
  const isThere = !["GRÜSSE", "grüße, \n"].includes(needle);
  expect(await found("icontains", [needle])).toEqual(isThere ? everyHolder : []);
});

test("letters that only look alike in upper case are different letters", async () => {
  expect(await found("icontains", ["strasse"])).toEqual(["two letters for one"]);
  expect(await found("icontains", ["\u017Ftra\u017Fse"])).toEqual(["two letters for one"]);
  expect(await found("icontains", ["straße"])).toEqual([]);
});

test("an escape elsewhere is not a line break", async () => {
  expect(await found("contains", ["\new"])).toEqual([]);
  expect(await found("icontains", ["\nEW"])).toEqual([]);
});

test.each(["contains", "icontains"])("searches for the longest accepted texts: %s", async (operator) => {
  for (const unit of ["日", '"', "é", "a\n"]) {
    expect(
      await found(
        operator,
        Array.from({ length: 8 }, (_, i) => `${i}${unit.repeat(511)}`.slice(0, 512)),
      ),
    ).toEqual([]);
  }
});
