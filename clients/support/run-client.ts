import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { inject } from "vitest";
import { inAnyOrder, summarizeSpan, type SpanSummary } from "../../server/test/support/otlp-summary.ts";
import { listSpans, retrieveSpan, settle } from "../../server/test/support/spans.ts";
import { testAdmin } from "../../server/test/support/test-app.ts";
import { createClient, type ListAnswer, type Row, type TestClient } from "../../server/test/support/test-client.ts";
import { listTraces, retrieveTrace, type Node } from "../../server/test/support/traces.ts";

/** The results of a client on the server, read back through the API. */
export type ClientRun = {
  prod: TestClient;
  /** Every span, sorted, as a short summary for comparison. */
  spans: SpanSummary[];
  /** The spans with all members. */
  rows: Row[];
  /** The rows of the trace list, earliest first. */
  traces: Row[];
  /** The tree of each trace as `root(child(grandchild) child)`, siblings by name. */
  trees: string[];
  /** Everything that the client printed. */
  output: string;
};

const timeoutMs = 60_000;

/** Runs `program`, a file in clients/otlp/programs, and reads back its results. */
export async function runClient(program: string, args: readonly string[] = []): Promise<ClientRun> {
  const { prod, stdout, stderr } = await runProgram(join("otlp/programs", program), args);
  return { prod, output: stdout + stderr, ...(await readBack(prod)) };
}

/**
 * Runs `program`, a file below clients/, as a separate process, because SDKs patch modules and keep global state. Its
 * environment has the URLs of the server and the mock model, and the key of an organization created for this run.
 */
export async function runProgram(
  program: string,
  args: readonly string[] = [],
): Promise<{ prod: TestClient; stdout: string; stderr: string }> {
  const serverUrl = inject("serverUrl");
  const key = await newOrganization(serverUrl);
  const env = {
    PATH: process.env["PATH"],
    SPANWAY_URL: serverUrl,
    SPANWAY_KEY: key,
    MODEL_URL: inject("modelUrl"),
  };
  const path = join(import.meta.dirname, "..", program);
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [path, ...args], { env, timeout: timeoutMs });
  return { prod: createClient(serverUrl, key), stdout, stderr };
}

/** Creates an organization and returns its `prod` key. */
export async function newOrganization(serverUrl: string): Promise<string> {
  const login = await createClient(serverUrl).post("/api/auth/login/", testAdmin);
  const admin = createClient(serverUrl, String((login.json as Row)["access"]));
  const made = await admin.post("/api/organizations/", { name: "A client" });
  return (made.json as { keys: { prod: string } }).keys.prod;
}

/** The organization's data on the server. */
export async function readBack(prod: TestClient): Promise<Pick<ClientRun, "spans" | "rows" | "traces" | "trees">> {
  await settle(prod);
  const listed = await listSpans(prod, {}, "sort_by=start_time&page_size=1000");
  const rows = await Promise.all(listed.results.map((row) => retrieveSpan(prod, row["unique_id"])));
  const { results: traces }: ListAnswer = await listTraces(prod, {}, "start_time=2000-01-01&sort_by=start_time");
  const trees: string[] = [];
  for (const trace of traces) {
    trees.push(draw((await retrieveTrace(prod, String(trace["trace_unique_id"]))).span_tree));
  }
  return { rows, spans: inAnyOrder(rows.map((row) => summarizeSpan(row, rows))), traces, trees };
}

function draw(nodes: readonly Node[]): string {
  return nodes
    .map(({ span_name, children }) => `${String(span_name)}${children.length === 0 ? "" : `(${draw(children)})`}`)
    .toSorted()
    .join(" ");
}
