import { request } from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { csvRecords, download, exportRows, readCsv, readExport, readParquet } from "../support/exports.ts";
import { always, bodyOf, listSpans, storeSpans } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import { exportFormats } from "../../src/storage/spans/span-export.ts";
import { exportedSpan } from "../../src/storage/spans/queries/exported-span.ts";
import { createClient, type Row, type TestClient } from "../support/test-client.ts";

/** Section C of the additions: exports of spans. */

let app: TestApp;
let prod: TestClient;
let testKey: TestClient;
let other: TestClient;
const path = "/api/request-logs/export/";
const group = (name: string) => ({ group_identifier: { operator: "", value: [name] } });

/** Every kind of value, and every text that a format may mishandle. */
const hostile = [
  "plain",
  'say "hi", twice ""',
  "line one\nline two\r\nline three\rfour",
  "a\u0000b",
  "lone \ud83d surrogate",
  "🦊 → ünï \u202eright to left\u202c \u2028\u2029",
  "=cmd|' /C calc'!A0",
  "+1-2",
  "-2+3",
  "@SUM(A1)",
  "\tx",
  "\rx",
  "\nx",
  "＝1+1",
  "a,b;c\td",
  "\\N",
  "NULL",
  " ",
  '{"a": 1}',
  "[]",
  "\ufeffbom",
] as const;
const spans: Row[] = [
  ...hostile.map((text, n) => ({
    span_name: text,
    input: text,
    output: text,
    error_message: text,
    customer_identifier: `customer ${n}`,
    metadata: { [text.slice(0, 20)]: text, "a.b": [1, { c: null }], big: "x" },
    properties: { text },
    log_type: n % 2 === 0 ? "chat" : "tool",
  })),
  {
    log_type: "chat",
    model: "gpt-4o",
    prompt_messages: [{ role: "user", content: "Hi" }],
    completion_message: { role: "assistant", content: "Hello" },
    tools: [{ type: "function", function: { name: "f" } }],
    usage: { prompt_tokens: 9, completion_tokens: 2 },
    temperature: 0.1,
    top_p: 0.25,
    stop: ["a"],
    note: "=1",
    latency: 1e-7,
    status_code: 500,
    stream: true,
    positive_feedback: false,
    timestamp: "2026-01-02T03:04:05.123456789Z",
    start_time: "2026-01-02T03:04:05Z",
  },
  {
    log_type: "chat",
    input: ' [{"role": "user",\n "content": "x"}, {"role":"user","content":[1]}]',
    output: '{"role":"assistant",\n"content":"y"}',
  },
  { log_type: "chat", input: '[{"no": "role"}]', output: "[1" },
  {
    log_type: "completion",
    completion_messages: [
      { role: "assistant", content: "1" },
      { role: "assistant", content: "2" },
    ],
  },
  { log_type: "tool" },
  { status: "failed", cost: 12_345.678_9, total_tokens: 1_000_000_000_000, metadata: { n: 0 } },
  {
    trace_unique_id: "t",
    span_unique_id: "root",
    log_type: "workflow",
    cost: 1,
    total_tokens: 5,
    prompt_tokens: 5,
    completion_tokens: 0,
  },
  {
    trace_unique_id: "t",
    span_unique_id: "leaf",
    span_parent_id: "root",
    log_type: "chat",
    customer_identifier: "acme",
    cost: 1,
    total_tokens: 5,
    prompt_tokens: 5,
    completion_tokens: 0,
  },
].map((span) => Object.assign({ group_identifier: "all", timestamp: "2026-01-01T00:00:00Z" }, span));

beforeAll(async () => {
  app = await startTestApp();
  ({ prod, test: testKey } = await app.newOrganization());
  ({ prod: other } = await app.newOrganization());
  await storeSpans(prod, spans);
  await storeSpans(testKey, [{ group_identifier: "all", span_name: "of test" }]);
  await storeSpans(other, [{ group_identifier: "all", span_name: "of others" }]);
}, 60_000);
afterAll(() => app.stop());

/** The response as raw bytes. */
async function raw(
  client: TestClient,
  query: string,
  headers: Record<string, string>,
): Promise<{ headers: IncomingHttpHeaders; body: Buffer }> {
  return await new Promise((resolve, reject) => {
    request(
      `${app.url}${path}?${always}&${query}`,
      { method: "POST", headers: { authorization: client.authorization, ...headers } },
      (response) => {
        buffer(response).then((body) => resolve({ headers: response.headers, body }), reject);
      },
    )
      .on("error", reject)
      .end("{}");
  });
}

const byId = (rows: Row[]): Map<unknown, Row> => new Map(rows.map((row) => [row["unique_id"], row]));

describe("JSON Lines", () => {
  test("are the default, and equal the rows of the list, member by member", async () => {
    const { results } = await listSpans(prod, group("all"), "environment=prod&page_size=100");
    const exported = byId(await exportRows(prod, path, group("all"), "environment=prod"));
    expect(exported.size).toBe(spans.length);
    for (const row of results) expect(exported.get(row["unique_id"])).toEqual(row);
    expect(Object.keys([...exported.values()][0] ?? {})).toEqual(Object.keys(results[0] ?? {}));
  });
});

const inProd = "environment=prod";
const allFields = Object.keys(exportedSpan);

/** A value of a response as a cell. */
function asCell(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value !== "string") return JSON.stringify(value);
  return formula.test(value) ? `'${value}` : value;
}

/** The cells of documents contain JSON in any notation. */
const normal = (cell: string): unknown => {
  try {
    const value = JSON.parse(cell) as unknown;
    return typeof value === "object" || typeof value === "number" ? value : cell;
  } catch {
    return cell;
  }
};
const formula = /^[=+\-@\t\r\n＝＋－＠]/;

describe("JSON Lines of all fields", () => {
  test("equal the retrieved spans", async () => {
    const exported = await exportRows(prod, path, group("all"), `${inProd}&fields=${allFields.join(",")}`);
    expect(exported).toHaveLength(spans.length);
    for (const row of exported) {
      const span = bodyOf(await prod.get(`/api/request-logs/${String(row["unique_id"])}/`));
      expect(row).toEqual(Object.fromEntries(allFields.map((name) => [name, span[name]])));
    }
  });

  test("are those of lists and retrieval", async () => {
    const [span] = (await listSpans(prod, group("all"), inProd)).results;
    const retrieved = bodyOf(await prod.get(`/api/request-logs/${String(span?.["unique_id"])}/`));
    expect(new Set(allFields)).toEqual(new Set(Object.keys(retrieved)));
  });
});

describe("CSV", () => {
  test("is RFC 4180, with a header, absent values empty and formulas neutralised", async () => {
    const answer = await prod.post(`${path}?${always}&${inProd}&format=csv&fields=${allFields.join(",")}`, {
      filters: group("all"),
    });
    expect(answer.status).toBe(200);
    expect(readCsv(answer.text)[0]).toEqual(allFields);
    const lines = byId(await exportRows(prod, path, group("all"), `${inProd}&fields=${allFields.join(",")}`));
    const records = csvRecords(answer.text);
    expect(records).toHaveLength(spans.length);
    for (const record of records) {
      const row = lines.get(record["unique_id"]);
      for (const name of allFields) {
        const expected = absentAsText[name] === JSON.stringify(row?.[name]) ? "" : asCell(row?.[name]);
        expect([name, normal(record[name] ?? "(none)")]).toEqual([name, normal(expected)]);
      }
    }
  });

  const absentAsText: Record<string, string> = {
    metadata: "{}",
    properties: "{}",
    scores: "{}",
    limit_info: '{"is_allowed":true,"limits":[]}',
  };

  test.each(hostile.filter((text) => formula.test(text)))("%j is text to a spreadsheet", async (text) => {
    const filters = { ...group("all"), span_name: { operator: "", value: [text] } };
    const answer = await prod.post(`${path}?${always}&format=csv&fields=span_name,input`, { filters });
    expect(readCsv(answer.text).slice(1)).toEqual([[`'${text}`, `'${text}`]]);
  });

  test("keeps negative numbers numbers", async () => {
    await storeSpans(prod, [{ group_identifier: "negative", frequency_penalty: -1.5, metadata: { n: -1 } }]);
    const answer = await prod.post(`${path}?${always}&format=csv&fields=frequency_penalty,metadata`, {
      filters: group("negative"),
    });
    expect(answer.text).toBe('"frequency_penalty","metadata"\r\n-1.5,"{""n"":-1}"\r\n');
  });
});

describe("Parquet", () => {
  test("is read back by the engine's own reader, with types", async () => {
    const fields = allFields.join(",");
    const { rows, types } = await readParquet(
      await download(app.url + path, prod, `${inProd}&format=parquet&fields=${fields}`, group("all")),
    );
    expect(Object.keys(types)).toEqual(allFields);
    expect(types).toMatchObject({
      unique_id: "Nullable(String)",
      timestamp: "DateTime64(9, 'UTC')",
      cost: "Nullable(Float64)",
      total_tokens: "Nullable(Int64)",
      stream: "Nullable(Bool)",
      metadata: "Nullable(String)",
    });
    const lines = byId(await exportRows(prod, path, group("all"), `${inProd}&fields=${fields}`));
    expect(rows).toHaveLength(spans.length);
    for (const row of rows) {
      const line = lines.get(row["unique_id"]);
      for (const name of [
        "input",
        "output",
        "error_message",
        "span_name",
        "cost",
        "customer_identifier",
        "counted_cost",
        "stream",
        "failed",
      ]) {
        expect([name, row[name]]).toEqual([name, line?.[name]]);
      }
      expect(JSON.parse((row["metadata"] ?? "{}") as string)).toEqual(line?.["metadata"]);
    }
    expect(rows.map((row) => row["timestamp"])).toContain("2026-01-02 03:04:05.123456789");
  });
});

describe.each(exportFormats)("%s", (format) => {
  test("states its type and its name, and forbids sniffing", async () => {
    const { headers } = await prod.post(`${path}?start_time=2026-01-01&end_time=2026-02-01&format=${format}`, {});
    const types = { jsonl: "application/x-ndjson", csv: "text/csv", parquet: "application/vnd.apache.parquet" };
    expect(headers.get("content-type")).toContain(types[format]);
    expect(headers.get("content-disposition")).toBe(
      `attachment; filename="spans-all-20260101T000000Z-20260201T000000Z.${format}"`,
    );
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("cache-control")).toBe("no-store");
  });

  test("has only the organization's spans, of the requested environment", async () => {
    const names = async (client: TestClient, query: string) => {
      const file = await download(app.url + path, client, `format=${format}&fields=span_name&${query}`, group("all"));
      return (await readExport(format, file)).map((row) => row["span_name"]);
    };
    expect(await names(other, "")).toEqual(["of others"]);
    expect(await names(prod, "environment=test")).toEqual(["of test"]);
    expect(await names(prod, "")).toHaveLength(spans.length + 1);
  });
});

describe("of nothing", () => {
  const nothing = async (format: string) =>
    await download(app.url + path, prod, `format=${format}&fields=unique_id,cost`, group("nobody"));

  test("JSON Lines are empty", async () => {
    expect((await nothing("jsonl")).length).toBe(0);
  });

  test("CSV is its header", async () => {
    expect(Buffer.from(await nothing("csv")).toString()).toBe('"unique_id","cost"\r\n');
  });

  test("Parquet has columns and no rows", async () => {
    const { rows, types } = await readParquet(await nothing("parquet"));
    expect([rows, Object.keys(types)]).toEqual([[], ["unique_id", "cost"]]);
  });
});

describe("gzip", () => {
  test.each(["jsonl", "csv"])("compresses %s if the client accepts it", async (format) => {
    const query = `${inProd}&format=${format}&fields=unique_id,input`;
    const plain = await raw(prod, query, { "accept-encoding": "identity" });
    const zipped = await raw(prod, query, { "accept-encoding": "gzip" });
    expect(plain.headers["content-encoding"]).toBeUndefined();
    expect(zipped.headers).toMatchObject({ "content-encoding": "gzip", vary: "accept-encoding" });
    const sorted = (text: Buffer) => text.toString().split("\n").sort();
    expect(sorted(gunzipSync(zipped.body))).toEqual(sorted(plain.body));
  });

  test("does not compress Parquet, which is compressed already", async () => {
    const { headers, body } = await raw(prod, "format=parquet&fields=unique_id", { "accept-encoding": "gzip" });
    expect(headers["content-encoding"]).toBeUndefined();
    expect(body.subarray(0, 4).toString()).toBe("PAR1");
  });
});

describe("is refused", () => {
  test.each([
    ["", "start_time"],
    ["end_time=2026-01-01", "start_time"],
    ["start_time=", "start_time"],
    ["start_time=soon", "start_time"],
    ["start_time=2026-02-01&end_time=2026-01-01", "start_time"],
    ["start_time=2026-01-01&format=xlsx", "format"],
    ["start_time=2026-01-01&format=CSV", "format"],
    ["start_time=2026-01-01&fields=model,nonsense", "fields"],
    ["start_time=2026-01-01&fields=input%60,cost", "fields"],
    ["start_time=2026-01-01&environment=stage", "environment"],
  ])("?%s, naming %s", async (query, name) => {
    const answer = await prod.post(`${path}?${query}`, {});
    expect(answer.status).toBe(400);
    expect(answer.headers.get("content-disposition")).toBeNull();
    expect(bodyOf(answer)["errors"]).toHaveProperty(name);
  });

  test("if an unknown parameter would need a warning", async () => {
    const answer = await prod.post(`${path}?start_time=2026-01-01&plan=pro`, {});
    expect(answer.status).toBe(400);
    expect(answer.text).toContain("metadata__<key>");
  });

  test("if a filter names no field", async () => {
    const answer = await prod.post(`${path}?start_time=2026-01-01`, { filters: { nonsense: { value: [1] } } });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain("nonsense");
  });

  test("without a key", async () => {
    expect((await createClient(app.url).post(`${path}?start_time=2026-01-01`, {})).status).toBe(401);
  });
});

describe("the filters of body and URL", () => {
  test("apply to exports as to lists", async () => {
    const rows = await exportRows(
      prod,
      path,
      group("all"),
      `${inProd}&log_type=chat&customer_identifier=acme&fields=span_unique_id`,
    );
    expect(rows).toEqual([{ span_unique_id: "leaf" }]);
  });
});
