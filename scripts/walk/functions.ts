import { setTimeout as sleep } from "node:timers/promises";
import type { Inspector } from "./inspector.ts";

/** A function of the server's sources, identified by its position. */
export type SourceFunction = {
  /** Path below the source folder, such as `api/index.ts`. */
  file: string;
  /** "" for a closure without a name. */
  name: string;
  scriptId: string;
  start: number;
  end: number;
};

type Coverage = {
  result: Array<{
    scriptId: string;
    url: string;
    functions: Array<{
      functionName: string;
      ranges: Array<{ startOffset: number; endOffset: number; count: number }>;
    }>;
  }>;
};

/** Starts counting calls. */
export async function countCalls(inspector: Inspector): Promise<void> {
  await inspector.send("Profiler.enable");
  await inspector.send("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
}

/** The functions that ran since the previous call, by id. Module bodies are left out. */
export async function takeCalled(inspector: Inspector, folderUrl: string): Promise<Map<string, SourceFunction>> {
  const { result } = await inspector.send<Coverage>("Profiler.takePreciseCoverage");
  const called = new Map<string, SourceFunction>();
  for (const { scriptId, url, functions } of result) {
    if (!url.startsWith(folderUrl)) continue;
    const file = url.slice(folderUrl.length);
    for (const { functionName, ranges } of functions) {
      const [range] = ranges;
      if (range === undefined || range.count === 0 || range.startOffset === 0) continue;
      const { startOffset: start, endOffset: end } = range;
      called.set(`${file}:${start}`, { file, name: functionName, scriptId, start, end });
    }
  }
  return called;
}

type Location = { scriptId: string; lineNumber: number; columnNumber?: number };

/**
 * Runs `request`, and returns the functions in the order of first entry. Ends after `quietMs` without an entry; functions
 * not entered by then are left out.
 */
export async function orderOf(
  inspector: Inspector,
  functions: readonly SourceFunction[],
  { request, quietMs }: { request: () => Promise<void>; quietMs: number },
): Promise<SourceFunction[]> {
  await inspector.send("Debugger.enable");
  const byBreakpoint = new Map<string, SourceFunction>();
  const order: SourceFunction[] = [];
  let enteredMs = performance.now();
  // Registered before the first breakpoint: the server may hit one at any time.
  inspector.on("Debugger.paused", ({ hitBreakpoints }: { hitBreakpoints: string[] }) => {
    enteredMs = performance.now();
    for (const breakpointId of hitBreakpoints) {
      const entry = byBreakpoint.get(breakpointId);
      if (entry !== undefined) order.push(entry);
      byBreakpoint.delete(breakpointId);
      void inspector.send("Debugger.removeBreakpoint", { breakpointId });
    }
    void inspector.send("Debugger.resume");
  });
  const lines = new Map<string, number[]>();
  for (const entry of functions) {
    const { scriptId } = entry;
    if (!lines.has(scriptId)) lines.set(scriptId, await lineStarts(inspector, scriptId));
    const starts = lines.get(scriptId) ?? [];
    const { locations } = await inspector.send<{ locations: Location[] }>("Debugger.getPossibleBreakpoints", {
      start: locationOf(scriptId, starts, entry.start),
      end: locationOf(scriptId, starts, entry.end),
    });
    const [location] = locations;
    if (location === undefined) continue;
    const set = inspector.send<{ breakpointId: string }>("Debugger.setBreakpoint", { location });
    // Two functions may begin at the same place; the breakpoint belongs to the first.
    const made = await set.catch(() => undefined);
    if (made !== undefined) byBreakpoint.set(made.breakpointId, entry);
  }
  await request();
  enteredMs = performance.now();
  for (let leftMs = quietMs; leftMs > 0; leftMs = enteredMs + quietMs - performance.now()) await sleep(leftMs);
  await inspector.send("Debugger.disable");
  return order;
}

async function lineStarts(inspector: Inspector, scriptId: string): Promise<number[]> {
  const { scriptSource } = await inspector.send<{ scriptSource: string }>("Debugger.getScriptSource", { scriptId });
  const starts = [0];
  for (let at = scriptSource.indexOf("\n"); at !== -1; at = scriptSource.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

function locationOf(scriptId: string, starts: readonly number[], offset: number): Location {
  const lineNumber = starts.findLastIndex((start) => start <= offset);
  return { scriptId, lineNumber, columnNumber: offset - (starts[lineNumber] ?? 0) };
}
