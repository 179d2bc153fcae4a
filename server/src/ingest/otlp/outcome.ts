import { limits } from "../../limits.ts";
import { integer } from "../field-readers.ts";
import { asText } from "./attribute-bag.ts";
import type { SpanView } from "./convention.ts";
import type { OtlpEvent } from "./export-request.ts";

/** Keys that tell of an error although the span's own status does not, with the value that does. */
const errorSigns: ReadonlyArray<readonly [key: string, value: string | boolean, scope?: RegExp]> = [
  ["langfuse.observation.level", "ERROR"],
  ["gen_ai.tool.status", "error"],
  ["lk.function_tool.is_error", true],
  ["genkit:state", "error"],
  ["success", false, /^com\.anthropic\.claude_code/],
];

const exceptionEvents: ReadonlySet<string> = new Set(["exception", "gen_ai.client.operation.exception"]);

const messageKeys = ["exception.message", "error.message", "langfuse.observation.status_message", "error"];
const statusKeys = ["http.response.status_code", "http.status_code", "error.type"];

export type Outcome = { status: "success" | "error"; status_code?: number; error_message?: string };

/** How the span went. The attributes that tell stay where they are, but for those that only repeat it. */
export function readOutcome(view: SpanView): Outcome {
  const { span, bag, events, scopeName } = view;
  const exception = events.findLast(({ name }) => exceptionEvents.has(name));
  const signs = errorSigns.some(([key, value, scope]) => bag.peek(key) === value && scope?.test(scopeName) !== false);
  const failed =
    span.status.code === 2 || signs || (span.status.code === 0 && (exception !== undefined || bag.has("error.type")));
  if (!failed) return { status: "success" };

  const message = messageOf(view, exception);
  const statusCode = statusCodeOf(view, message);
  const outcome: Outcome = { status: "error", status_code: statusCode };
  if (message !== undefined) outcome.error_message = message.slice(0, limits.otlpErrorChars).toWellFormed();
  for (const key of messageKeys) if (bag.peek(key) === message) bag.drop(key);
  return outcome;
}

function messageOf({ span, bag }: SpanView, exception: OtlpEvent | undefined): string | undefined {
  if (span.status.message !== "") return span.status.message;
  const thrown = asText(exception?.attributes.get("exception.message"));
  if (thrown !== undefined && thrown !== "") return thrown;
  for (const key of messageKeys) {
    const text = bag.peekText(key);
    if (text !== undefined) return text;
  }
  return bag.peekText("error.type") ?? asText(exception?.attributes.get("exception.type"));
}

/** HTTP's own code, or the number that messages of SDKs begin with: `404 The model …`, `Error: 404 …`. */
function statusCodeOf({ bag }: SpanView, message: string | undefined): number {
  const inMessage = /^(?:\w*Error: )?([45]\d\d)\b/.exec(message ?? "")?.[1];
  for (const given of [...statusKeys.map((key) => bag.peek(key)), inMessage]) {
    const code = given === undefined ? undefined : integer(given);
    if (typeof code === "number" && code >= 400 && code <= 599) return code;
  }
  return 500;
}
