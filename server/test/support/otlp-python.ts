import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isObject } from "../../src/lib/json.ts";
import { summarizeSpan, type SpanSummary } from "./otlp-summary.ts";
import { listTraces } from "./traces.ts";
import type { Row, TestClient } from "./test-client.ts";

/** Captured exports of Python SDKs (fixtures/otlp/python), by set-up, and the expected spans. */

const folder = join(import.meta.dirname, "../fixtures/otlp/python");

type Capture = { file: string; path: string; contentType: string; body: Uint8Array<ArrayBuffer> };

/** A span, with the data that each of these SDKs should state. */
export type PythonSpan = SpanSummary & {
  provider?: string;
  /** The first line of the error, at most 100 characters. */
  error?: string;
  /** Whether a time to first token is known. */
  hasFirstToken?: true;
  /** Keys of metadata, sorted, without those of the SDK's resource and scope. */
  metadata?: string[];
};

export type PythonTrace = { name: string; spans: number; tokens?: number; cost?: number; errors?: number };

export type PythonSetUp = { traces: PythonTrace[]; spans: PythonSpan[] };

/** Bodies by set-up, in the order in which they were sent. */
export function pythonCaptures(): Map<string, Capture[]> {
  const index = JSON.parse(readFileSync(join(folder, "captures/index.json"), "utf8")) as Record<
    string,
    { path: string; content_type: string }
  >;
  const bySetUp = new Map<string, Capture[]>();
  for (const [file, { path, content_type: contentType }] of Object.entries(index)) {
    const [setUp = ""] = file.split("--");
    const capture = { file, path, contentType, body: new Uint8Array(readFileSync(join(folder, "captures", file))) };
    bySetUp.set(setUp, [...(bySetUp.get(setUp) ?? []), capture]);
  }
  return bySetUp;
}

export async function expectedPython(): Promise<Array<[setUp: string, expected: PythonSetUp]>> {
  const names = readdirSync(join(folder, "expected")).map((file) => file.replace(/\.ts$/, ""));
  return Promise.all(
    names.map(async (name): Promise<[string, PythonSetUp]> => {
      const module = (await import(`../fixtures/otlp/python/expected/${name}.ts`)) as { expected: PythonSetUp };
      return [name, module.expected];
    }),
  );
}

export function summarizePythonSpan(row: Row, all: readonly Row[]): PythonSpan {
  const metadata = isObject(row["metadata"]) ? Object.keys(row["metadata"]).filter(isContent).toSorted() : [];
  const [error = ""] = typeof row["error_message"] === "string" ? row["error_message"].split("\n") : [];
  return {
    ...summarizeSpan(row, all),
    ...(typeof row["provider_id"] === "string" && row["provider_id"] !== "" && { provider: row["provider_id"] }),
    ...(error !== "" && { error: error.slice(0, 100) }),
    ...(typeof row["time_to_first_token"] === "number" && { hasFirstToken: true }),
    ...(metadata.length > 0 && { metadata }),
  };
}

/** Members that all spans of an export share are omitted. */
function isContent(key: string): boolean {
  return !/^(?:otel\.scope\.(?:name|version)|telemetry\.sdk\..*|service\.(?:name|version|instance\.id)|process\..*)$/.test(
    key,
  );
}

export async function summarizePythonTraces(client: TestClient): Promise<PythonTrace[]> {
  const { results } = await listTraces(client);
  return results
    .filter(({ name }) => name !== "marker" && name !== "root")
    .map(({ name, span_count, total_tokens, total_cost, error_count }) => ({
      name: String(name),
      spans: Number(span_count),
      ...(Number(total_tokens) > 0 && { tokens: Number(total_tokens) }),
      ...(Number(total_cost) > 0 && { cost: Number((Number(total_cost) * 1e6).toFixed(4)) }),
      ...(Number(error_count) > 0 && { errors: Number(error_count) }),
    }));
}
