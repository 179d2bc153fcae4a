import { isObject, mayBeObject } from "../../../lib/json.ts";
import type { ChatUsage, UpstreamProblem } from "../provider.ts";

/**
 * Parses an event's object; undefined if it is not one. The text is not repaired: a character may be split between two
 * events.
 */
export function readEvent(data: string): Record<string, unknown> | undefined {
  if (!mayBeObject(data)) return undefined;
  try {
    const event = JSON.parse(data) as unknown;
    return isObject(event) ? event : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The problem of a stream that broke off, or that cannot be parsed.
 * @param usage of a complete stream that is not a valid response
 */
export function brokenStream(message: string, usage?: ChatUsage): UpstreamProblem {
  return { kind: "fault", status: 200, message, ...(usage ? { usage } : { isInterrupted: true }) };
}
