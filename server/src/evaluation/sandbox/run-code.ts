import { Scope } from "quickjs-emscripten";
import type { QuickJSContext, QuickJSHandle, QuickJSRuntime, QuickJSWASMModule } from "quickjs-emscripten";
import { isObject } from "../../lib/json.ts";
import type { RunBounds, SandboxOutcome, SandboxReply } from "./sandbox-task.ts";

/**
 * Runs `main(eval_inputs)` of some JavaScript in a fresh engine inside WebAssembly. The code has only the language: no
 * host clock, no I/O, no modules. Time, stack and the size of the result are limited here, memory by the module's own
 * maximum: QuickJS cannot count its allocations in WebAssembly, so its memory limit would have no effect.
 */
export function runCode(
  engine: QuickJSWASMModule,
  { code, inputs }: { code: string; inputs: string },
  bounds: RunBounds,
): SandboxReply {
  // CPU time: on a busy machine, innocent code waits for its turn.
  const startedMs = bounds.cpuMs();
  const isLate = () => bounds.cpuMs() - startedMs > bounds.timeMs;
  const runtime = engine.newRuntime();
  runtime.setMaxStackSize(bounds.stackBytes);
  runtime.setInterruptHandler(isLate);
  const context = runtime.newContext();
  let reply: SandboxReply;
  try {
    const outcome = Scope.withScope((scope) => callMain({ runtime, context, scope, bounds, isLate }, code, inputs));
    reply = { outcome, isSpent: false };
  } catch (error) {
    reply = { outcome: { ok: false, error: describeFault(error, bounds) }, isSpent: true };
  }
  return dispose(context, runtime) ? reply : { ...reply, isSpent: true };
}

/** `scope` frees every handle at the end: the engine refuses to be freed with values in use. */
type Run = {
  runtime: QuickJSRuntime;
  context: QuickJSContext;
  scope: Scope;
  bounds: RunBounds;
  isLate: () => boolean;
};

function callMain(run: Run, code: string, inputs: string): SandboxOutcome {
  const { context, scope } = run;
  // Taken before the code runs, which may replace them.
  const parse = unwrap(run, context.evalCode("JSON.parse"));
  const stringify = unwrap(run, context.evalCode("JSON.stringify"));
  if (!parse.ok || !stringify.ok) return { ok: false, error: "the sandbox could not be set up" };
  const loaded = unwrap(run, context.evalCode(code, "evaluator.js"));
  if (!loaded.ok) return loaded;
  const main = unwrap(run, context.evalCode("typeof main === 'function' ? main : undefined"));
  if (!main.ok) return main;
  if (context.typeof(main.handle) !== "function")
    return { ok: false, error: "the code defines no function main(eval_inputs)" };
  const input = unwrap(
    run,
    context.callFunction(parse.handle, context.undefined, scope.manage(context.newString(inputs))),
  );
  if (!input.ok) return input;
  const returned = unwrap(run, context.callFunction(main.handle, context.undefined, input.handle));
  if (!returned.ok) return returned;
  const settled = settle(run, returned.handle);
  if (!settled.ok) return settled;
  const json = unwrap(run, context.callFunction(stringify.handle, context.undefined, settled.handle));
  return json.ok ? readText(run, json.handle) : json;
}

type Value = { ok: true; handle: QuickJSHandle } | { ok: false; error: string };

function unwrap({ context, scope, bounds }: Run, result: ReturnType<QuickJSContext["evalCode"]>): Value {
  if (result.error) return { ok: false, error: describeThrown(context.dump(scope.manage(result.error)), bounds) };
  return { ok: true, handle: scope.manage(result.value) };
}

/**
 * The value that a promise resolves to. Nothing outside will ever settle it: either its jobs decide it here, or it
 * stays pending.
 */
function settle(run: Run, handle: QuickJSHandle): Value {
  const { runtime, context, scope, isLate, bounds } = run;
  for (;;) {
    const state = context.getPromiseState(handle);
    if (state.type === "fulfilled") return { ok: true, handle: scope.manage(state.value) };
    if (state.type === "rejected") {
      return { ok: false, error: describeThrown(context.dump(scope.manage(state.error)), bounds) };
    }
    if (isLate()) return { ok: false, error: tooLong(bounds) };
    const jobs = runtime.executePendingJobs(jobsAtATime);
    if (jobs.error) return { ok: false, error: describeThrown(context.dump(scope.manage(jobs.error)), bounds) };
    if (jobs.value === 0) return { ok: false, error: "main returned a promise that nothing settles" };
  }
}

// The time limit is checked after this many jobs.
const jobsAtATime = 1_000;

/** The length is read first, so that a text which is too long is not copied. */
function readText({ context, scope, bounds }: Run, handle: QuickJSHandle): SandboxOutcome {
  if (context.typeof(handle) !== "string") return { ok: false, error: "main returned nothing that JSON can say" };
  const length = context.getNumber(scope.manage(context.getProp(handle, "length")));
  if (length > bounds.resultChars) {
    return { ok: false, error: `main returned ${length} characters of JSON; ${bounds.resultChars} are allowed` };
  }
  return { ok: true, json: context.getString(handle) };
}

function describeThrown(thrown: unknown, bounds: RunBounds): string {
  // Without memory for an error, the engine throws nothing at all.
  if (!thrown && bounds.hasGrown()) return tooLarge(bounds);
  if (!isError(thrown)) return `the evaluator threw ${JSON.stringify(thrown)}`.slice(0, errorChars);
  const { name, message } = thrown;
  if (name === "InternalError" && message === "interrupted") return tooLong(bounds);
  if (name === "InternalError" && message.startsWith("out of memory")) return tooLarge(bounds);
  return `${name}: ${message}`.slice(0, errorChars);
}

function isError(thrown: unknown): thrown is { name: string; message: string } {
  return isObject(thrown) && typeof thrown["name"] === "string" && typeof thrown["message"] === "string";
}

const errorChars = 1_000;

function tooLarge({ memoryBytes }: RunBounds): string {
  return `the evaluator used more than ${memoryBytes / 2 ** 20} MiB of memory`;
}

function tooLong({ timeMs }: RunBounds): string {
  return `the evaluator ran longer than ${timeMs} ms`;
}

function describeFault(error: unknown, bounds: RunBounds): string {
  // The engine uses the host's stack: very deep nesting overflows that first.
  return error instanceof RangeError
    ? describeThrown({ name: "RangeError", message: error.message }, bounds)
    : "the evaluator broke its sandbox";
}

/** Returns whether it worked: after running out of memory, the engine may find its state inconsistent and abort. */
function dispose(context: QuickJSContext, runtime: QuickJSRuntime): boolean {
  try {
    context.dispose();
    runtime.dispose();
    return true;
  } catch {
    return false;
  }
}
