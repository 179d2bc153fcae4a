import { isObject, parseKeepingDigits } from "../lib/json.ts";
import { pythonJson } from "../lib/python-json.ts";
import { deliveryLimits } from "./limits.ts";

/**
 * The text that is sent for an event: ASCII only, so one byte per character. If a payload is too large, its large
 * members are null and `is_truncated` is true.
 */
export function payloadText(payload: object | string): string {
  const json = typeof payload === "string" ? payload : JSON.stringify(payload);
  // A text this short cannot be too long once escaped.
  const text = json.length * 6 <= deliveryLimits.webhookPayloadBytes ? pythonJson(json) : pythonJsonIfSmall(json);
  return text ?? pythonJson(JSON.stringify(withoutLargeMembers(parseKeepingDigits(json))));
}

function pythonJsonIfSmall(json: string): string | undefined {
  if (json.length > deliveryLimits.webhookPayloadBytes) return undefined;
  const text = pythonJson(json);
  return text.length <= deliveryLimits.webhookPayloadBytes ? text : undefined;
}

function withoutLargeMembers(value: unknown): Record<string, unknown> {
  const members = Object.entries(isObject(value) ? value : {});
  const small = members.map(([name, member]) => {
    const isSmall = pythonJson(JSON.stringify(member) ?? "null").length <= deliveryLimits.webhookMemberBytes;
    return [name, isSmall ? member : null];
  });
  return { ...Object.fromEntries(small), is_truncated: true };
}
