import type { RuleConfig } from "../../domain/evaluator.ts";

/** What a sandbox is asked to do. `inputs` is JSON text, handed over without being parsed on the way. */
export type SandboxTask =
  | { kind: "code"; code: string; inputs: string }
  | { kind: "rule"; rule: RuleConfig; text: string; expected: string };

/** `timeMs` is of the processor. `memoryBytes` is what code may take, its log included, beside what the engine starts with. */
export type SandboxBounds = { timeMs: number; memoryBytes: number; stackBytes: number; resultChars: number };

/** `cpuMs`: of the processor, used by the thread so far. `hasGrown`: the engine's memory has, by about half of its bound. */
export type RunBounds = SandboxBounds & { cpuMs: () => number; hasGrown: () => boolean };

/** `json` is the JSON text of what the code returned. `error` is the evaluator's own fault, in words for its author. */
export type SandboxOutcome = { ok: true; json: string } | { ok: false; error: string };

/** `isSpent`: the engine broke, or its memory, which never shrinks, has grown: the thread is of no further use. */
export type SandboxReply = { outcome: SandboxOutcome; isSpent: boolean };

/** What a thread says first: it has begun, and what it uses of the processor from then on is its tasks'. */
export const sandboxIsReady = "ready";
