import type { RuleConfig } from "../../domain/evaluator.ts";

/** What a sandbox is asked to do. `inputs` is JSON text, handed over without being parsed on the way. */
export type SandboxTask =
  | { kind: "code"; code: string; inputs: string }
  | { kind: "rule"; rule: RuleConfig; text: string; expected: string };

/** `timeMs` is of the processor. */
export type SandboxBounds = { timeMs: number; memoryBytes: number; stackBytes: number; resultChars: number };

/** With the milliseconds of the processor that the thread has used so far. */
export type RunBounds = SandboxBounds & { cpuMs: () => number };

/** `json` is the JSON text of what the code returned. `error` is the evaluator's own fault, in words for its author. */
export type SandboxOutcome = { ok: true; json: string } | { ok: false; error: string };

export type SandboxRequest = { task: SandboxTask; bounds: SandboxBounds };

/** `isSpent`: the engine broke, and the worker is of no further use. */
export type SandboxReply = { outcome: SandboxOutcome; isSpent: boolean };
