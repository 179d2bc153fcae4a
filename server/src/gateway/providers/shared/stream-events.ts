import { isObject } from "../../../lib/json.ts";
import type { UpstreamProblem } from "../provider.ts";

/** An event's object; undefined where it is none. Without repair of its text: a character may be cut between two events. */
export function readEvent(data: string): Record<string, unknown> | undefined {
  try {
    const event = JSON.parse(data) as unknown;
    return isObject(event) ? event : undefined;
  } catch {
    return undefined;
  }
}

/** A stream that broke off, or that cannot be read. */
export function brokenStream(message: string): UpstreamProblem {
  return { kind: "fault", status: 200, message };
}
