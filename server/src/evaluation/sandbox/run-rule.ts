import { Validator } from "@cfworker/json-schema";
import type { QuickJSWASMModule } from "quickjs-emscripten";
import type { RuleConfig } from "../../domain/evaluator.ts";
import { runCode } from "./run-code.ts";
import type { RunBounds, SandboxReply } from "./sandbox-task.ts";

/**
 * Applies a built-in rule to a text. Returns a boolean, or for `similarity` a number from 0 to 1. Patterns run in the
 * engine, which can be interrupted. A schema may contain patterns too, and those run here: the pool terminates the
 * thread if they take too long.
 */
export function runRule(
  engine: QuickJSWASMModule,
  { rule, text, expected }: { rule: RuleConfig; text: string; expected: string },
  bounds: RunBounds,
): SandboxReply {
  if (rule.rule === "regex") {
    const inputs = JSON.stringify({ pattern: rule.pattern, flags: rule.flags ?? "", text });
    return runCode(
      engine,
      { code: "const main = (rule) => new RegExp(rule.pattern, rule.flags).test(rule.text)", inputs },
      bounds,
    );
  }
  if (rule.rule === "contains") return answer(contains(rule, text));
  if (rule.rule === "similarity") return answer(similarity(text, rule.expected ?? expected));
  const parsed = parse(text);
  return answer(parsed.ok && new Validator(rule.schema, "2020-12").validate(parsed.value).valid);
}

function answer(value: boolean | number): SandboxReply {
  return { outcome: { ok: true, json: JSON.stringify(value) }, isSpent: false };
}

function contains(rule: Extract<RuleConfig, { rule: "contains" }>, text: string): boolean {
  const fold = (each: string) => (rule.case_sensitive === false ? each.toLowerCase() : each);
  const wanted = Array.isArray(rule.text) ? rule.text : [rule.text];
  const holds = (each: string) => fold(text).includes(fold(each));
  return rule.match === "all" ? wanted.every(holds) : wanted.some(holds);
}

function parse(text: string): { ok: true; value: unknown } | { ok: false } {
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch {
    return { ok: false };
  }
}

/**
 * The similarity of two texts from 0 to 1: the share of pairs of neighbouring characters that they have in common
 * (Sørensen–Dice), ignoring case and spacing. Its cost is linear in their length.
 */
function similarity(first: string, second: string): number {
  const [a, b] = [normalize(first), normalize(second)];
  if (a === b) return 1;
  const [left, right] = [pairsOf(a), pairsOf(b)];
  let shared = 0;
  for (const [pair, count] of left) shared += Math.min(count, right.get(pair) ?? 0);
  const total = Math.max(0, a.length - 1) + Math.max(0, b.length - 1);
  return total === 0 ? 0 : (2 * shared) / total;
}

function normalize(text: string): string {
  return text.normalize("NFC").toLowerCase().trim().replace(/\s+/g, " ");
}

function pairsOf(text: string): Map<string, number> {
  const pairs = new Map<string, number>();
  for (let start = 0; start + 1 < text.length; start += 1) {
    const pair = text.slice(start, start + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return pairs;
}
