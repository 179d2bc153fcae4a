import { parentPort } from "node:worker_threads";
import { getQuickJS, type QuickJSWASMModule } from "quickjs-emscripten";
import { runCode } from "./run-code.ts";
import { runRule } from "./run-rule.ts";
import type { SandboxReply, SandboxRequest } from "./sandbox-task.ts";

/** The thread behind `sandbox-pool.ts`: one task at a time, one answer each. */
const engine = await getQuickJS();
const port = parentPort;
port?.on("message", ({ task, bounds }: SandboxRequest) => port.postMessage(answer(engine, { task, bounds })));

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

function answer(engine: QuickJSWASMModule, { task, bounds: given }: SandboxRequest): SandboxReply {
  const bounds = { ...given, cpuMs };
  try {
    return task.kind === "code" ? runCode(engine, task, bounds) : runRule(engine, task, bounds);
  } catch (error) {
    const message = error instanceof Error ? error.message.slice(0, 1_000) : "unknown";
    return { outcome: { ok: false, error: `the evaluator failed: ${message}` }, isSpent: true };
  }
}
