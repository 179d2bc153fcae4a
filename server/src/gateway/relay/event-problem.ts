import { readErrorWithin } from "../providers/openai/problem.ts";
import type { UpstreamProblem } from "../providers/provider.ts";

/** What an event of OpenAI's tells that failed: `{error: …}`, or `{type: "error", message, code}`. */
export function problemOfEvent(event: Record<string, unknown>): UpstreamProblem {
  const error = event["error"] ?? { message: event["message"], code: event["code"] };
  return (
    readErrorWithin({ error, usage: event["usage"] }) ?? {
      kind: "fault",
      status: 200,
      message: "The provider reported an error.",
    }
  );
}
