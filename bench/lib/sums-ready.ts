import { setTimeout as sleep } from "node:timers/promises";
import type { BenchServer } from "./bench-server.ts";

/** Waits until everything stored before the call is in the sums, as in production some minutes after spans arrive. Returns seconds. */
export async function sumsReady(server: BenchServer): Promise<number> {
  const started = performance.now();
  let last: number | undefined;
  for (;;) {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    const behind = Number(/^spanway_sums_behind_seconds (\S+)$/m.exec(text)?.[1] ?? 0);
    const waited = (performance.now() - started) / 1_000;
    // The figure is set at the end of a round: it is current once it has changed.
    if (last !== undefined && behind !== last && behind < waited) return waited;
    last = behind;
    await sleep(500);
  }
}
