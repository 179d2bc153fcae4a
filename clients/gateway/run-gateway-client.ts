import { join } from "node:path";
import { summarizeSpan, type SpanSummary } from "../../server/test/support/otlp-summary.ts";
import { listSpans, retrieveSpan, settleCalls } from "../../server/test/support/spans.ts";
import type { Row, TestClient } from "../../server/test/support/test-client.ts";
import { runProgram } from "../support/run-client.ts";

export type GatewayRun = {
  /** The result of each case, as the program printed it. */
  cases: Record<string, Row>;
  /** The spans of each case, earliest first. */
  spans: Record<string, Row[]>;
  prod: TestClient;
};

/**
 * Runs `program`, a file in clients/gateway/programs, and reads back the spans of its calls, by the case in their
 * metadata.
 */
export async function runGatewayClient(program: string, args: readonly string[] = []): Promise<GatewayRun> {
  const { prod, stdout, stderr } = await runProgram(join("gateway/programs", program), args);
  if (stderr !== "") throw new Error(`${program} wrote to stderr:\n${stderr}`);
  const lines = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Row);
  await settleCalls(prod);
  const { results } = await listSpans(prod, {}, "sort_by=start_time&page_size=1000");
  const rows = await Promise.all(
    results
      .filter(({ custom_identifier }) => custom_identifier !== "marker")
      .map((row) => retrieveSpan(prod, row["unique_id"])),
  );
  return {
    prod,
    cases: Object.fromEntries(lines.map(({ case: name, ...result }) => [String(name), result])),
    spans: Object.groupBy(rows, caseOf) as Record<string, Row[]>,
  };
}

function caseOf({ metadata }: Row): string {
  return (metadata as { case?: string } | null)?.case ?? "no case";
}

/** Summaries of spans; `expectWhole` checks their other members. */
export function summariesOf(spans: Record<string, Row[]>): Record<string, Array<Partial<SpanSummary>>> {
  const entries = Object.entries(spans).map(([name, rows]) => [name, rows.map((row) => summaryOf(row, rows))]);
  return Object.fromEntries(entries) as Record<string, SpanSummary[]>;
}

/** The default name of a call follows from operation and model: only another name is included. */
function summaryOf(row: Row, rows: Row[]): Partial<SpanSummary> {
  const { name, ...rest } = summarizeSpan(row, rows);
  return name === `chat ${String(row["model"])}` ? rest : { name, ...rest };
}
