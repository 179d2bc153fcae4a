import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { ServiceError } from "../domain/errors.ts";

/** The number of stored rows, and of spans that log records still wait for: those can only come from other nodes. */
export type Drained = { drained: string; rows: number; spans_that_logs_wait_for: number };

const pollMs = 250;
/** After this time without progress, the rest stays where it is. */
const patienceMs = 60_000;

/** Metrics that must be 0 before the folder is no longer needed. */
const leftMetrics = ["spanway_journal_entries", "spanway_fan_out_entries", "spanway_gateway_spool_bytes"];

/**
 * Starts a server on the folder of a node that will not come back, and stops it when nothing is left. @throws
 * ServiceError `conflict` if it does not start, such as when the other node runs, or makes no progress
 */
export async function drainNode(folder: string, startServer: (folder: string) => ChildProcess): Promise<Drained> {
  if (!existsSync(join(folder, "journal")))
    throw new ServiceError("not_found", `There is no journal at ${join(folder, "journal")}.`);
  const child = startServer(folder);
  const ended = once(child, "exit");
  try {
    const url = await listening(child, ended);
    const first = await readMetrics(url);
    let last = first;
    let changedAt = performance.now();
    while (leftOf(last).some((left) => left > 0)) {
      if (performance.now() - changedAt > patienceMs) {
        throw new ServiceError(
          "conflict",
          `The span store takes no rows: ${last("spanway_journal_entries")} entries stay in the journal.`,
        );
      }
      await sleep(pollMs);
      const next = await readMetrics(url);
      if (leftOf(next).join() !== leftOf(last).join()) changedAt = performance.now();
      last = next;
    }
    const waiting = last("spanway_log_events_spans");
    return { drained: folder, rows: last("spanway_writer_rows_total"), spans_that_logs_wait_for: waiting };
  } finally {
    if (child.exitCode === null) child.kill("SIGTERM");
    await ended;
  }
}

type ReadMetric = (name: string) => number;

const leftOf = (metric: ReadMetric): number[] => leftMetrics.map(metric);

async function readMetrics(url: string): Promise<ReadMetric> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return (name) => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1] ?? 0);
}

/** The server's URL. @throws ServiceError with the last line that the server printed */
async function listening(child: ChildProcess, ended: Promise<unknown>): Promise<string> {
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error("the server was started without pipes");
  let lastLine = "";
  stderr.on("data", (chunk: Buffer) => (lastLine = chunk.toString().trim()));
  const url = await Promise.race([
    new Promise<string>((resolve) => {
      createInterface({ input: stdout }).on("line", (line) => {
        const found = /"url":"([^"]+)","msg":"Spanway is listening"/.exec(line)?.[1];
        if (found !== undefined) resolve(found);
      });
    }),
    ended.then(() => undefined),
  ]);
  if (url === undefined) throw new ServiceError("conflict", lastLine.split("\n")[0] ?? "The server did not start.");
  return url;
}
