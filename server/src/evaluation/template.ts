import { isObject } from "../lib/json.ts";
import { evaluationLimits } from "./limits.ts";
import { freeInputs, inputNames } from "./evaluation-inputs.ts";

const placeholder = /\{\{\s*([\w.-]+)\s*\}\}/g;

/**
 * Replaces `{{name}}` and `{{name.member}}` by values. Values are inserted as text, once: braces within them have no
 * meaning. A missing value is empty, and a long one is truncated.
 * @param prepare changes the text of a value before it is truncated
 */
export function renderTemplate(
  template: string,
  values: Record<string, unknown>,
  prepare: (text: string) => string = (text) => text,
): string {
  return template.replace(placeholder, (_placeholder, path: string) => {
    const text = prepare(textOf(valueAt(values, path)));
    return text.length <= evaluationLimits.judgeValueChars
      ? text
      : `${text.slice(0, evaluationLimits.judgeValueChars)} […]`;
  });
}

/** The distinct placeholders that these inputs can never fill. */
export function unknownPlaceholders(template: string): string[] {
  const names = Array.from(template.matchAll(placeholder), ([, path = ""]) => path);
  const isKnown = (path: string) =>
    inputNames.some((name) => name === path) || freeInputs.some((name) => path.startsWith(`${name}.`));
  return [...new Set(names.filter((path) => !isKnown(path)))];
}

/** A member with the whole path as its name takes precedence over nested members: metadata keys may contain dots. */
function valueAt(values: Record<string, unknown>, path: string): unknown {
  if (Object.hasOwn(values, path)) return values[path];
  const dot = path.indexOf(".");
  if (dot === -1) return undefined;
  const name = path.slice(0, dot);
  const inner = Object.hasOwn(values, name) ? values[name] : undefined;
  return isObject(inner) ? valueAt(inner, path.slice(dot + 1)) : undefined;
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
