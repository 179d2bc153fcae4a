import { afterAll, beforeAll, describe, expect, test } from "vitest";
import fc from "fast-check";
import { bodyOf, createSpan, listSpans, retrieveSpan, roundTrip, settle } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { ListAnswer, Row, TestClient } from "../support/test-client.ts";
import { retrieveTrace } from "../support/traces.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const bulkPath = "/api/request-logs/bulk/";

/** Fragments that have broken databases, parsers and terminals. */
const nasty = [
  "\ud83d",
  "\ude00",
  "\ude00\ud83d",
  "x\ud83dy",
  "\0",
  "a\0b",
  "\ud83d\ude00",
  "\uffff",
  "\ufeffbom",
  "\u2028\u2029",
  "\u202e\u200b\u200d",
  "\\ud83d",
  "\\u0000",
  "\\",
  '"',
  "'; DROP TABLE spans; --",
  "\n\r\t\b\f",
  "\u0001\u001f\u007f\u0080",
  "{organization_id:String}",
  "%s%n%(x)s",
  "\\N",
  "NaN",
  "null",
  "Ω≈ç√∫˜µ≤≥÷",
  "a\u0301\u0301\u0301",
  "👨‍👩‍👧‍👦🏴󠁧󠁢󠁥󠁮󠁧󠁿",
];

const cleaned = (text: string): string => text.toWellFormed().replaceAll("\0", "\ufffd");

/** A text in every text field of a span. */
const everywhere = (text: string): Row => ({
  log_type: text || "chat",
  model: text,
  input: text,
  output: text,
  span_name: text,
  error_message: text,
  customer_identifier: text,
  custom_identifier: text,
  metadata: { value: text, [`key ${text}`]: 1, nested: { [text]: [text, { deep: text }] } },
  properties: { [text]: text },
  prompt_messages: [{ role: "user", content: text }],
  completion_message: { role: "assistant", content: text },
  tools: [{ name: text }],
  variables: { [text]: text },
  full_request: { text },
  note: text,
});

/** JSON.stringify escapes lone surrogates; this sends NUL and lone surrogates like other serializers. */
const json = (value: unknown): string => JSON.stringify(value);

async function storedRows(client: TestClient): Promise<Row[]> {
  await settle(client);
  const list = await listSpans(
    client,
    { log_type: { operator: "not", value: ["marker"] } },
    "page_size=1000&sort_by=timestamp",
  );
  expect(list.results).toHaveLength(list.count);
  return list.results;
}

/** The nodes of a trace by their unique_id, without null members: of its tree, of its slim tree, and of a page. */
async function nodesOf(client: TestClient, trace: string): Promise<Map<unknown, Row>[]> {
  const { span_tree: full } = await retrieveTrace(client, trace);
  const { span_tree: slim } = await retrieveTrace(client, trace, "tree=slim");
  const { spans } = await retrieveTrace(client, trace, "tree=flat&page_size=1000");
  const lists = [full, slim, (spans as ListAnswer).results] as Row[][];
  expect(lists.map(({ length }) => length)).toEqual([100, 100, 100]);
  const beside = new Set(["children", "storage_object_key", "end_time"]);
  const ofSpan = (node: Row) => Object.fromEntries(Object.entries(node).filter(([name]) => !beside.has(name)));
  return lists.map((nodes) => new Map(nodes.map((node) => [node["unique_id"], ofSpan(node)])));
}

describe("text that is difficult for other systems", () => {
  test("a hundred spans with every kind of it: all stored, good ones bit for bit, bad units replaced", async () => {
    const { prod } = await app.newOrganization();
    const texts = Array.from({ length: 100 }, (_, i) => nasty[i - 30] ?? `good ${i} ✓ \ud83d\ude00`);
    const logs = texts.map((text, i) => ({
      ...everywhere(text),
      log_type: "chat",
      timestamp: `2026-01-01T00:00:00.${String(i).padStart(3, "0")}Z`,
      trace_unique_id: "of all kinds",
      span_links: [{ text }],
    }));
    const answer = await prod.post(bulkPath, json({ logs }));
    expect(answer.json).toMatchObject({ success_count: 100, error_count: 0 });
    const rows = await storedRows(prod);
    expect(rows).toHaveLength(100);
    const trees = await nodesOf(prod, "of all kinds");
    for (const [i, row] of rows.entries()) {
      const text = cleaned(texts[i]!);
      expect(row).toMatchObject({ input: text, output: text, model: text, span_name: text, customer_identifier: text });
      expect(row["metadata"]).toEqual({ value: text, [`key ${text}`]: 1, nested: { [text]: [text, { deep: text }] } });
      expect(row["prompt_messages"]).toEqual([{ role: "user", content: text }]);
      const whole = await retrieveSpan(prod, row["unique_id"]);
      expect(whole).toMatchObject({ full_request: { text }, note: text, variables: { [text]: text } });
      // The nodes of a trace are written from the engine's text, and have the same values.
      for (const tree of trees) {
        expect([...tree.keys()]).toContain(whole["unique_id"]);
        const { span_links: links, ...node } = tree.get(whole["unique_id"]) ?? {};
        expect(whole).toMatchObject(node);
        expect(links).toBeOneOf([undefined, JSON.stringify([{ text }])]);
      }
    }
  });

  test("bytes that are not UTF-8 affect only their own characters", async () => {
    const { prod } = await app.newOrganization();
    const bad = ["ff", "c3", "e282", "f09f98", "eda0bd", "c080", "f8888080", "80", "fefe", "f4908080"];
    const rows = bad.map((hex) =>
      Buffer.concat([Buffer.from('{"input":"a'), Buffer.from(hex, "hex"), Buffer.from('z","log_type":"chat"}')]),
    );
    const commas = rows.flatMap((row, i) => (i === 0 ? [row] : [Buffer.from(","), row]));
    const body = Buffer.concat([
      Buffer.from('{"logs":['),
      ...commas,
      Buffer.from(',{"input":"good ✓","log_type":"chat"}]}'),
    ]);
    expect((await prod.post(bulkPath, body)).json).toMatchObject({ success_count: bad.length + 1 });
    const inputs = (await storedRows(prod)).map((row) => String(row["input"]));
    expect(inputs).toHaveLength(bad.length + 1);
    expect(inputs.filter((input) => /^a\ufffd+z$/.test(input))).toHaveLength(bad.length);
    expect(inputs).toContain("good ✓");
  });

  test("escapes in either case, alone, doubled and in keys", async () => {
    const { prod } = await app.newOrganization();
    const cases: [string, Row][] = [
      ['"\\uD83D"', { v: "\ufffd" }],
      ['"\\ud83d\\u0041"', { v: "\ufffdA" }],
      ['"\\ud83d\\ud83d\\ude00"', { v: "\ufffd😀" }],
      ['"\\\\ud83d"', { v: "\\ud83d" }],
      ['"\\u0000\\u0001"', { v: "\ufffd\u0001" }],
      ['{"\\ud83d":"\\u0000"}', { v: { "\ufffd": "\ufffd" } }],
    ];
    for (const [text, metadata] of cases) {
      expect(await roundTrip(prod, `{"metadata":{"v":${text}}}`)).toMatchObject({ metadata });
    }
  });

  test("JSON within a string is handled in the same way", async () => {
    const { prod } = await app.newOrganization();
    const inner = '{"bad":"\\ud83d\\u0000","big":12345678901234567890,"nan":NaN,"ok":"é"}';
    const span = await createSpan(prod, {
      metadata: inner,
      properties: inner,
      tools: `[${inner}]`,
      prompt_messages: `[${inner}]`,
    });
    const { text } = await settled(prod, span);
    const expected = '{"bad":"\ufffd\ufffd","big":12345678901234567890,"nan":null,"ok":"é"}';
    for (const member of [`"metadata":${expected}`, `"properties":${expected}`, `"tools":[${expected}]`]) {
      expect(text).toContain(member);
    }
  });

  test("any text is returned, without what UTF-8 cannot encode", async () => {
    const { prod } = await app.newOrganization();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: "binary", maxLength: 20 }), { minLength: 50, maxLength: 50 }),
        async (texts) => {
          const logs = texts.map((text, i) => ({
            input: `${i} ${text}`,
            metadata: { text },
            log_type: "chat",
            span_unique_id: `s${i}`,
            trace_unique_id: "t",
            timestamp: `2026-01-01T00:00:00.${String(i).padStart(3, "0")}Z`,
          }));
          expect((await prod.post(bulkPath, json({ logs }))).json).toMatchObject({ success_count: 50 });
          const rows = await storedRows(prod);
          expect(rows.map((row) => [row["input"], row["metadata"]])).toEqual(
            texts.map((text, i) => [`${i} ${cleaned(text)}`, { text: cleaned(text) }]),
          );
        },
      ),
      { numRuns: 5 },
    );
  });

  async function settled(client: TestClient, span: Row) {
    await settle(client);
    return client.get(`/api/request-logs/${String(span["unique_id"])}/`);
  }
});

describe("text in filters and paths", () => {
  let prod: TestClient;
  beforeAll(async () => {
    ({ prod } = await app.newOrganization());
    await prod.post(bulkPath, json({ logs: nasty.map((text) => ({ ...everywhere(text), log_type: "chat" })) }));
    await settle(prod);
  });

  test.each(nasty)("filtering by %j finds the span with it, and never fails", async (text) => {
    const wanted = cleaned(text);
    const spansNamed = async (operator: string) =>
      (await listSpans(prod, { span_name: { operator, value: [wanted] } })).results.map((row) => row["span_name"]);
    expect(new Set(await spansNamed(""))).toEqual(new Set([wanted]));
    expect(await spansNamed("contains")).toContain(wanted);
    expect(await spansNamed("icontains")).toContain(wanted);
    for (const filters of [
      { metadata__value: { operator: "startswith", value: [text] } },
      { [`metadata__${text}`]: { operator: "isnull", value: [false] } },
    ]) {
      const answer = await prod.post("/api/request-logs/list/", json({ filters }));
      expect([200, 400]).toContain(answer.status);
    }
  });

  test.each([
    "%00",
    "%ff",
    "%F0%9F%98%80",
    "..%2f..%2fetc",
    "%2e%2e",
    "a".repeat(1500),
    "%",
    "%zz",
    "'",
    "%27%20OR%201=1",
  ])("retrieving %s is 404 or 400, never 500", async (id) => {
    const answer = await app.prod.get(`/api/request-logs/${id}/`);
    expect([400, 404]).toContain(answer.status);
    expect(bodyOf(answer)["code"]).toMatch(/not_found|invalid_request/);
  });

  test.each([
    "%00",
    "%ff",
    "%ed%a0%bd",
    "%F0%9F%98%80",
    "%zz",
    "a&a&a",
    "[",
    "x[y][z]=1",
    "__proto__=1",
    "constructor=1",
  ])("a list with %s in its query responds or is refused", async (text) => {
    for (const query of [
      `span_name=${text}`,
      `metadata__k=${text}`,
      `metadata__${text}=1`,
      `${text}=x`,
      `sort_by=${text}`,
      `include_fields=${text}`,
    ]) {
      const answer = await app.prod.post(`/api/request-logs/list/?${query}`, {});
      expect([query, [200, 400].includes(answer.status)]).toEqual([query, true]);
    }
  });
});
