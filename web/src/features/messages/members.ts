import { isRecord, parseExactly } from "../../lib/exact-json.ts";

/** Longer texts are not parsed: parsing would block the page. */
const jsonChars = 2_000_000;

/** These functions read members of untrusted values: a member of an unexpected type is treated as absent. */
export function textIn(value: Record<string, unknown>, member: string): string | undefined {
  const found = value[member];
  return typeof found === "string" ? found : undefined;
}

/** The first member that is a non-empty text. */
export function firstText(value: Record<string, unknown>, ...members: string[]): string | undefined {
  return members.map((member) => textIn(value, member)).find((text) => text !== undefined && text !== "");
}

export function recordIn(value: Record<string, unknown>, member: string): Record<string, unknown> | undefined {
  const found = value[member];
  return isRecord(found) ? found : undefined;
}

export function arrayIn(value: Record<string, unknown>, member: string): unknown[] {
  const found = value[member];
  return Array.isArray(found) ? (found as unknown[]) : [];
}

/** Parses a text that is a JSON object or list; undefined for any other text. */
export function jsonIn(text: string): unknown {
  if (text.length > jsonChars || !/^\s*[[{]/.test(text) || !/[\]}]\s*$/.test(text.slice(-64))) return undefined;
  try {
    return parseExactly(text);
  } catch {
    return undefined;
  }
}
