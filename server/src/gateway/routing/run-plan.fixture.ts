import { openaiShaped } from "../providers/quirks.ts";
import type { Attempt } from "./plan.ts";

/** A clock that `sleep` advances. */
export function virtualTime(startMs = 1_000_000) {
  const clock = { ms: startMs, slept: [] as number[] };
  return {
    clock,
    now: () => clock.ms,
    sleep: async (ms: number, signal: AbortSignal): Promise<void> => {
      signal.throwIfAborted();
      clock.ms += ms;
      clock.slept.push(ms);
    },
  };
}

/** @param id of its credential */
export function attemptOf(model: string, id: string): Attempt {
  return {
    model,
    target: { provider: "openai", model, baseUrl: "https://example.com/v1", credential: { apiKey: id, fields: {} } },
    translator: undefined,
    quirks: openaiShaped.openai,
    credentialId: id,
    keyMark: "",
    isCallerHost: false,
    isOperatorHost: false,
  };
}
