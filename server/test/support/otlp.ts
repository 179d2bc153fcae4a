import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { allMembers } from "../../src/api/request-logs/present-span.ts";
import { listSpans, settle } from "./spans.ts";
import type { Answer, Row, TestClient } from "./test-client.ts";

const fixtures = join(import.meta.dirname, "../fixtures/otlp");

export const protobufType = { "content-type": "application/x-protobuf" };

/** A fixture as it was sent: bytes with the headers that state their encoding. */
export type Fixture = { name: string; body: Uint8Array<ArrayBuffer>; headers: Record<string, string> };

export function fixture(folder: "captures" | "synthetic", name: string): Fixture {
  const isProtobuf = /\.pb(?:\.gz)?$/.test(name);
  return {
    name,
    body: new Uint8Array(readFileSync(join(fixtures, folder, name))),
    headers: {
      "content-type": isProtobuf ? "application/x-protobuf" : "application/json",
      ...(name.endsWith(".gz") && { "content-encoding": "gzip" }),
    },
  };
}

export function fixtureNames(folder: "captures" | "synthetic"): string[] {
  return readdirSync(join(fixtures, folder)).toSorted();
}

/** The JSON of a fixture that is JSON. */
export function fixtureJson(folder: "captures" | "synthetic", name: string): unknown {
  const bytes = readFileSync(join(fixtures, folder, name));
  return JSON.parse((name.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8"));
}

export function send(client: TestClient, path: string, { body, headers }: Fixture): Promise<Answer> {
  return client.post(path, body, headers);
}

/** One OTLP/JSON span in the smallest export that holds it; plain values become attributes. */
export function traceOf(attributes: Record<string, unknown>, span: Row = {}, scope = "manual"): Row {
  return {
    resourceSpans: [
      {
        scopeSpans: [
          {
            scope: { name: scope },
            spans: [
              {
                traceId: randomHex(32),
                spanId: randomHex(16),
                name: "span",
                startTimeUnixNano: "1700000000000000000",
                endTimeUnixNano: "1700000001500000000",
                attributes: attributesOf(attributes),
                ...span,
              },
            ],
          },
        ],
      },
    ],
  };
}

export function attributesOf(values: Record<string, unknown>): Row[] {
  return Object.entries(values).map(([key, value]) => ({ key, value: anyValueOf(value) }));
}

function anyValueOf(value: unknown): Row {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "number") return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  if (Array.isArray(value)) return { arrayValue: { values: value.map(anyValueOf) } };
  return { kvlistValue: { values: attributesOf(value as Record<string, unknown>) } };
}

export function randomHex(chars: number): string {
  return Array.from({ length: chars }, () => "123456789abcdef"[Math.floor(Math.random() * 15)]).join("");
}

/** Sends one span and retrieves it completely. */
export async function throughOtlp(client: TestClient, trace: Row): Promise<Row> {
  const answer = await client.post("/api/v2/traces", trace);
  if (answer.status !== 200) throw new Error(`traces answered ${answer.status}: ${answer.text}`);
  const [resource] = trace["resourceSpans"] as Array<{ scopeSpans: Array<{ spans: Row[] }> }>;
  const spanId = resource?.scopeSpans[0]?.spans[0]?.["spanId"];
  const [row] = await storedSpans(client, { span_unique_id: [spanId] });
  if (!row) throw new Error(`no span ${String(spanId)} was stored`);
  return row;
}

/** The matching spans, once all accepted spans are visible. */
export async function storedSpans(client: TestClient, filters: unknown): Promise<Row[]> {
  await settle(client);
  return wholeSpans(client, filters);
}

/** Every member of the matching spans, the earliest first. */
export async function wholeSpans(client: TestClient, filters: unknown): Promise<Row[]> {
  const query = `sort_by=start_time&page_size=1000&include_fields=${allMembers.join()}`;
  return (await listSpans(client, filters, query)).results;
}
