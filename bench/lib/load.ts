import { execFile, fork } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { hasCommand, pinToOtherCores } from "./cores.ts";

export type Load = {
  url: string;
  headers: Record<string, string>;
  body: Buffer;
  connections: number;
  seconds: number;
};

/** `failures` counts responses with a status other than 200, and broken connections. */
export type LoadResult = { perS: number; p50Ms: number; p99Ms: number; requests: number; failures: number };

export const loadGenerator = (): "wrk" | "node" => (hasCommand("wrk") ? "wrk" : "node");

/**
 * Sends requests over this many connections, each after the response to the previous one. Uses wrk, written in C, if it
 * is installed.
 */
export function runLoad(load: Load, folder: string): Promise<LoadResult> {
  return loadGenerator() === "wrk" ? runWrk(load, folder) : runNode(load);
}

async function runWrk({ url, headers, body, connections, seconds }: Load, folder: string): Promise<LoadResult> {
  const script = join(folder, "request.lua");
  const lines = Object.entries(headers).map(([name, value]) => `wrk.headers["${name}"] = ${JSON.stringify(value)}\n`);
  // A Lua long bracket: JSON does not contain "]==]".
  const done = `done = function(summary, latency)
    local errors = summary.errors
    io.write(string.format("FIGURES %d %d %d %d %d\\n", summary.requests, summary.duration,
      latency:percentile(50), latency:percentile(99), errors.status + errors.connect + errors.read + errors.timeout))
  end\n`;
  writeFileSync(script, `wrk.method = "POST"\n${lines.join("")}wrk.body = [==[${body.toString()}]==]\n${done}`);
  const args = ["-t1", `-c${connections}`, `-d${seconds}s`, "--timeout", "30s", "-s", script, url];
  const running = promisify(execFile)("wrk", args);
  pinToOtherCores(running.child.pid ?? 0);
  const { stdout } = await running;
  const figures = /FIGURES (\d+) (\d+) (\d+) (\d+) (\d+)/.exec(stdout);
  if (figures === null) throw new Error(`wrk printed: ${stdout}`);
  const [requests = 0, us = 1, p50 = 0, p99 = 0, failures = 0] = figures.slice(1).map(Number);
  return { perS: requests / (us / 1e6), p50Ms: p50 / 1000, p99Ms: p99 / 1000, requests, failures };
}

async function runNode(load: Load): Promise<LoadResult> {
  const child = fork(join(import.meta.dirname, "load-process.ts"), { serialization: "advanced" });
  pinToOtherCores(child.pid ?? 0);
  child.send(load);
  const [result] = (await once(child, "message")) as [LoadResult];
  child.disconnect();
  return result;
}
