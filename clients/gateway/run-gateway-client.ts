import { join } from "node:path";
import { summarizeSpan, type SpanSummary } from "../../server/test/support/otlp-summary.ts";
import { listSpans, retrieveSpan, settleCalls } from "../../server/test/support/spans.ts";
import type { Row, TestClient } from "../../server/test/support/test-client.ts";
import { runProgram } from "../support/run-client.ts";

export type GatewayRun = {
  /** What each case came to, as the program printed it. */
  cases: Record<string, Row>;
  /** The spans of each case, the earliest first. */
  spans: Record<string, Row[]>;
  prod: TestClient;
};

/** Runs `program`, a file of clients/gateway/programs, and reads back the spans of its calls, by the case in their metadata. */
export async function runGatewayClient(program: string, args: readonly string[] = []): Promise<GatewayRun> {
  const { prod, stdout, stderr } = await runProgram(join("gateway/programs", program), args);
  if (stderr !== "") throw new Error(`${program} complained:\n${stderr}`);
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

/** What a span says, in few words; the rest of it is checked by `expectWhole`. */
export function summariesOf(spans: Record<string, Row[]>): Record<string, Array<Partial<SpanSummary>>> {
  const entries = Object.entries(spans).map(([name, rows]) => [name, rows.map((row) => summaryOf(row, rows))]);
  return Object.fromEntries(entries) as Record<string, SpanSummary[]>;
}

/** Calls are named by operation and model, which every one of them has: only another name is worth a mention. */
function summaryOf(row: Row, rows: Row[]): Partial<SpanSummary> {
  const { name, ...rest } = summarizeSpan(row, rows);
  return name === `chat ${String(row["model"])}` ? rest : { name, ...rest };
}
