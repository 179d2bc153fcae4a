import { isObject, mayBeObject } from "../../../lib/json.ts";
import type { ChatUsage, UpstreamProblem } from "../provider.ts";

/** An event's object; undefined where it is none. Without repair of its text: a character may be cut between two events. */
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
 * A stream that broke off, or that cannot be read.
 * @param usage of one that is complete, though it is no answer
 */
export function brokenStream(message: string, usage?: ChatUsage): UpstreamProblem {
  return { kind: "fault", status: 200, message, ...(usage ? { usage } : { isCut: true }) };
}
