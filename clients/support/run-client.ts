import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { inject } from "vitest";
import { inAnyOrder, summarizeSpan, type SpanSummary } from "../../server/test/support/otlp-summary.ts";
import { listSpans, retrieveSpan, settle } from "../../server/test/support/spans.ts";
import { testAdmin } from "../../server/test/support/test-app.ts";
import { createClient, type ListAnswer, type Row, type TestClient } from "../../server/test/support/test-client.ts";
import { listTraces, retrieveTrace, type Node } from "../../server/test/support/traces.ts";

/** What a client left on the server, read back through the API. */
export type ClientRun = {
  prod: TestClient;
  /** Every span, sorted, in the few words of a table of expectations. */
  spans: SpanSummary[];
  /** The spans with all members. */
  rows: Row[];
  /** The rows of the trace list, the earliest first. */
  traces: Row[];
  /** The tree of each trace as `root(child(grandchild) child)`, siblings by name. */
  trees: string[];
  /** All that the client printed. */
  output: string;
};

const timeoutMs = 60_000;

/** Runs `program`, a file of clients/otlp/programs, and reads back what it left. */
export async function runClient(program: string, args: readonly string[] = []): Promise<ClientRun> {
  const { prod, stdout, stderr } = await runProgram(join("otlp/programs", program), args);
  return { prod, output: stdout + stderr, ...(await readBack(prod)) };
}

/**
 * Runs `program`, a file below clients/, as a process of its own: SDKs patch modules and keep global state. It finds in its
 * environment where the server and the mock model are, and the key of an organization made for this run.
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

/** Its key for `prod`. */
export async function newOrganization(serverUrl: string): Promise<string> {
  const login = await createClient(serverUrl).post("/api/auth/login/", testAdmin);
  const admin = createClient(serverUrl, String((login.json as Row)["access"]));
  const made = await admin.post("/api/organizations/", { name: "A client" });
  return (made.json as { keys: { prod: string } }).keys.prod;
}

/** What is on the server of the organization. */
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
