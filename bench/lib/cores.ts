import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

/** The measured process has the first core to itself; load and upstream use the others. */
const measuredCore = "0";
const otherCores = availableParallelism() > 2 ? `1-${availableParallelism() - 1}` : "1";

/** Pins all current and future threads of a process to the measured core. Returns false if the machine cannot pin. */
export function pinToMeasuredCore(pid: number): boolean {
  return spawnSync("taskset", ["-a", "-c", "-p", measuredCore, String(pid)]).status === 0;
}

/**
 * How to start a command on that core only, so that it counts one processor: the engine then starts only as many
 * threads as fit.
 */
export function onMeasuredCore(command: string, args: readonly string[]): { command: string; args: string[] } {
  const isPossible = spawnSync("taskset", ["-c", measuredCore, "true"]).status === 0;
  if (!isPossible) return { command, args: [...args] };
  return { command: "taskset", args: ["-c", measuredCore, command, ...args] };
}

export function pinToOtherCores(pid: number): boolean {
  return spawnSync("taskset", ["-a", "-c", "-p", otherCores, String(pid)]).status === 0;
}

export function hasCommand(name: string): boolean {
  return spawnSync("sh", ["-c", `command -v ${name}`]).status === 0;
}

/** Current resident memory of a process, in MiB. */
export const residentMib = (pid: number): number => statusMib(pid, "VmRSS");

/** The part of it that is not backed by files, in MiB. */
export const anonymousMib = (pid: number): number => statusMib(pid, "RssAnon");

function statusMib(pid: number, member: string): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`${member}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024;
}

/** Processor time that a process has used so far, in seconds. */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Waits until a process has been almost idle for two seconds; at most half a minute. */
export async function untilQuiet(pid: number): Promise<void> {
  const deadline = performance.now() + 30_000;
  let [used, before] = [cpuSeconds(pid), 0];
  do {
    before = used;
    await sleep(2_000);
    used = cpuSeconds(pid);
  } while (used - before > 0.1 && performance.now() < deadline);
}
