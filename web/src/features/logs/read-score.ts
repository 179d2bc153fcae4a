import type { ScoreValue } from "./use-bulk-change.ts";

/** Converts typed text to the API's score value; undefined if it is invalid for the type. */
export function readScore(type: string, text: string): ScoreValue | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  if (type === "boolean") {
    if (/^(true|yes|pass|1)$/i.test(trimmed)) return { boolean_value: true };
    return /^(false|no|fail|0)$/i.test(trimmed) ? { boolean_value: false } : undefined;
  }
  if (type === "numerical" || type === "percentage") {
    const number = Number(trimmed);
    return Number.isFinite(number) ? { numerical_value: number } : undefined;
  }
  if (type === "text") return { string_value: text };
  if (type === "json") return undefined;
  return { categorical_value: trimmed.split(",").map((name) => name.trim()) };
}
