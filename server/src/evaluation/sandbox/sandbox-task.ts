import type { RuleConfig } from "../../domain/evaluator.ts";

/** A task of the sandbox. `inputs` is JSON text, which is passed through without parsing. */
export type SandboxTask =
  | { kind: "code"; code: string; inputs: string }
  | { kind: "rule"; rule: RuleConfig; text: string; expected: string };

/** `timeMs` is CPU time. `memoryBytes` is the memory for code and its log, beyond what the engine starts with. */
export type SandboxBounds = { timeMs: number; memoryBytes: number; stackBytes: number; resultChars: number };

/**
 * `cpuMs`: CPU time of the thread so far. `hasGrown`: whether the engine's memory has grown by about half of its limit.
 */
export type RunBounds = SandboxBounds & { cpuMs: () => number; hasGrown: () => boolean };

/** `json` is the JSON text of the returned value. `error` is the evaluator's own fault, in words for its author. */
export type SandboxOutcome = { ok: true; json: string } | { ok: false; error: string };

/** `isSpent`: the engine broke, or its memory, which never shrinks, has grown: the thread must be replaced. */
export type SandboxReply = { outcome: SandboxOutcome; isSpent: boolean };

/** The first message of a thread: it has started, and its CPU time from then on belongs to its tasks. */
export const sandboxIsReady = "ready";
