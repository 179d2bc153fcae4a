import { parentPort, workerData } from "node:worker_threads";
import { newQuickJSWASMModuleFromVariant, newVariant, RELEASE_SYNC } from "quickjs-emscripten";
import { runCode } from "./run-code.ts";
import { runRule } from "./run-rule.ts";
import {
  sandboxIsReady,
  type RunBounds,
  type SandboxBounds,
  type SandboxReply,
  type SandboxTask,
} from "./sandbox-task.ts";

/** TypeScript declares it only in the browser library. */
declare const WebAssembly: {
  Memory: new (pages: { initial: number; maximum: number }) => { readonly buffer: ArrayBuffer };
};

/** The thread behind `sandbox-pool.ts`, started with `SandboxBounds`: one task at a time, one reply each. */
const given = workerData as SandboxBounds;
// The minimum that the module requires.
const engineBytes = 16 * 2 ** 20;
const pageBytes = 2 ** 16;
const memory = new WebAssembly.Memory({
  initial: engineBytes / pageBytes,
  maximum: Math.ceil((engineBytes + given.memoryBytes) / pageBytes),
});
const engine = await newQuickJSWASMModuleFromVariant(newVariant(RELEASE_SYNC, { wasmMemory: memory }));
const bounds: RunBounds = { ...given, cpuMs, hasGrown };
const port = parentPort;
port?.on("message", (task: SandboxTask) => port.postMessage(answer(task)));
port?.postMessage(sandboxIsReady);

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

function hasGrown(): boolean {
  return memory.buffer.byteLength > engineBytes + given.memoryBytes / 2;
}

function answer(task: SandboxTask): SandboxReply {
  try {
    const { outcome, isSpent } = task.kind === "code" ? runCode(engine, task, bounds) : runRule(engine, task, bounds);
    return { outcome, isSpent: isSpent || hasGrown() };
  } catch (error) {
    const message = error instanceof Error ? error.message.slice(0, 1_000) : "unknown";
    return { outcome: { ok: false, error: `the evaluator failed: ${message}` }, isSpent: true };
  }
}
