import { ServiceError } from "../domain/errors.ts";
import type { EvaluationRun } from "../storage/control/evaluation-run-store.ts";
import type { SpanKey, SpanStore, StoredSpan } from "../storage/spans/span-store.ts";
import { inputColumns } from "./evaluation-inputs.ts";

type Reader = Pick<SpanStore, "hydrateSpans" | "findSpan">;

/**
 * Reads the current logs of some runs, by id; missing ones are left out. They are read at their known time first. The
 * few that moved since, because they were resent with another end, are found by id.
 */
export async function readLogs(
  spans: Reader,
  organizationId: string,
  runs: readonly EvaluationRun[],
  signal: AbortSignal,
): Promise<Map<string, StoredSpan>> {
  const keys = new Map(runs.map((run) => [run.log_id, keyOf(run)]));
  const logs = await readKeys(spans, organizationId, [...keys.values()], signal);
  for (const { log_id: id } of runs) {
    if (logs.has(id)) continue;
    const key = await spans.findSpan({ organization_id: organizationId }, id, signal);
    const found = key === undefined ? new Map() : await readKeys(spans, organizationId, [key], signal);
    const log = found.get(id);
    if (log !== undefined) logs.set(id, log);
  }
  return logs;
}

/** Large logs are read in halves: together they may exceed the limit of one response. */
async function readKeys(
  spans: Reader,
  organizationId: string,
  keys: readonly SpanKey[],
  signal: AbortSignal,
): Promise<Map<string, StoredSpan>> {
  try {
    const rows = await spans.hydrateSpans({ organization_id: organizationId }, keys, inputColumns, signal);
    return new Map(rows.map((row) => [row.unique_id, row]));
  } catch (error) {
    const isTooMuch = error instanceof ServiceError && error.code === "query_too_large";
    if (!isTooMuch || keys.length < 2) throw error;
    const middle = keys.length >> 1;
    const first = await readKeys(spans, organizationId, keys.slice(0, middle), signal);
    const second = await readKeys(spans, organizationId, keys.slice(middle), signal);
    return new Map([...first, ...second]);
  }
}

/** The newest version counts, whichever version was matched. */
function keyOf(run: EvaluationRun): SpanKey {
  return { timestamp: run.log_timestamp, unique_id: run.log_id, environment: run.environment, version: "0" };
}
