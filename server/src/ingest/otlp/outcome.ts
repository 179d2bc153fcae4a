import { isObject, parseObjectText } from "../../lib/json.ts";
import type { Message } from "../../messages/message.ts";
import { ingestLimits } from "../limits.ts";
import { asText, type AttributeBag } from "./attribute-bag.ts";
import type { SpanView, SpanContent } from "./convention.ts";
import type { OtlpEvent, OtlpLogRecord } from "./export-request.ts";
import { httpStatusOf } from "./http-status.ts";

/** Keys that indicate an error even if the span's status does not, with the value that indicates it. */
const errorSigns: ReadonlyArray<readonly [key: string, value: string | boolean, scope?: RegExp]> = [
  ["langfuse.observation.level", "ERROR"],
  ["gen_ai.tool.status", "error"],
  ["lk.function_tool.is_error", true],
  ["genkit:state", "error"],
  ["success", false, /^com\.anthropic\.claude_code/],
];

/** The event of any exception, and that of an exception that ended a model call. */
const anyException = "exception";
const exceptionEvents: ReadonlySet<string> = new Set([anyException, "gen_ai.client.operation.exception"]);

const messageKeys = ["exception.message", "error.message", "langfuse.observation.status_message", "error"];
/** The HTTP status of the response, by the conventions' names and those of SDKs. */
export const statusKeys = [
  "http.response.status_code",
  "http.status_code",
  "status_code",
  "error.status_code",
  "error.code",
];

export type Outcome = { status: "success" | "error"; status_code?: number; error_message?: string };

/** OpenTelemetry's SeverityNumber of the lowest ERROR. */
const errorSeverity = 17;

/** The code of an error without a status. */
const unknownCode = 500;

/**
 * Whether a log record means that its span failed, like the span event of the same name. Application log lines never
 * do, whatever their severity and attributes: by the conventions the span's status reports failures, and handled or
 * retried exceptions are recorded as log events too. Those have a severity below ERROR
 * (https://opentelemetry.io/docs/specs/semconv/general/recording-errors); the event of a failed model call is a warning
 * by definition
 * (https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/gen-ai-exceptions.md).
 */
export function isFailureRecord(name: string, { severity }: Pick<OtlpLogRecord, "severity">): boolean {
  if (name === anyException) return severity === 0 || severity >= errorSeverity;
  return exceptionEvents.has(name);
}

/**
 * The outcome of a span from its own data. Attributes are left in the bag, except those that only repeat the error
 * message.
 */
export function readOutcome({ span, bag, scopeName }: Pick<SpanView, "span" | "bag" | "scopeName">): Outcome {
  const exception = lastException(span.events);
  const signs = errorSigns.some(([key, value, scope]) => bag.peek(key) === value && scope?.test(scopeName) !== false);
  const failed =
    span.status.code === 2 || signs || (span.status.code === 0 && (exception !== undefined || bag.has("error.type")));
  return failed ? failure(bag, span.status.message, exception) : { status: "success" };
}

/**
 * The outcome of a span with logged exceptions, in any order of arrival: the span's own OK, or its own error message,
 * takes precedence.
 * @param isOk whether the span's own status is OK
 */
export function withLoggedExceptions(
  own: Outcome,
  { bag, isOk }: { bag: AttributeBag; isOk: boolean },
  records: readonly OtlpEvent[],
): Outcome {
  const exception = lastException(records);
  if (exception === undefined || isOk) return own;
  // An error message that only repeats the error's name does not count as one.
  const isExplained = own.error_message !== undefined && own.error_message !== bag.peekText("error.type");
  if (isExplained) return own;
  const failed = failure(bag, "", exception);
  const { status_code: code = unknownCode } = own;
  return code === unknownCode ? failed : { ...failed, status_code: code };
}

function lastException(events: readonly OtlpEvent[]): OtlpEvent | undefined {
  return events.findLast(({ name }) => exceptionEvents.has(name));
}

function failure(bag: AttributeBag, text: string, exception: OtlpEvent | undefined): Outcome {
  const message = text === "" ? messageOf(bag, exception) : text;
  const outcome: Outcome = { status: "error", status_code: statusCodeOf(bag, message, exception) };
  if (message !== undefined) outcome.error_message = message.slice(0, ingestLimits.otlpErrorChars).toWellFormed();
  for (const key of messageKeys) if (bag.peek(key) === message) bag.drop(key);
  return outcome;
}

function messageOf(bag: AttributeBag, exception: OtlpEvent | undefined): string | undefined {
  const thrown = asText(exception?.attributes.get("exception.message"));
  if (thrown !== undefined && thrown !== "") return thrown;
  for (const key of messageKeys) {
    const text = bag.peekText(key);
    if (text !== undefined) return text;
  }
  return bag.peekText("error.type") ?? asText(exception?.attributes.get("exception.type"));
}

function statusCodeOf(bag: AttributeBag, message: string | undefined, exception: OtlpEvent | undefined): number {
  const ofException = (name: string): string => asText(exception?.attributes.get(`exception.${name}`)) ?? "";
  const status = httpStatusOf({
    codes: [...[...statusKeys, "error.type"].map((key) => bag.peek(key)), exception?.attributes.get("status_code")],
    texts: [
      message ?? "",
      ofException("message"),
      ...messageKeys.map((key) => bag.peekText(key) ?? ""),
      raisedIn(exception),
    ],
    types: [bag.peekText("error.type") ?? "", ofException("type")],
  });
  return status ?? unknownCode;
}

/** The lines of a stack trace with exceptions, the outermost first: code and locations are indented. */
function raisedIn(exception: OtlpEvent | undefined): string {
  const trace = asText(exception?.attributes.get("exception.stacktrace")) ?? "";
  const lines = trace.slice(-ingestLimits.otlpErrorChars).split("\n");
  return lines
    .filter((line) => /^[A-Za-z_][\w.]*: /.test(line))
    .toReversed()
    .join("\n");
}

/**
 * Removes the response of a failed call if it is empty or only reports the failure: an error object, or the error
 * message as a message of the model.
 */
export function dropFailedAnswer(content: SpanContent, error: string): void {
  const isReport = ({ content: text, tool_calls, reasoning_content, refusal }: Message): boolean => {
    if ((tool_calls ?? reasoning_content ?? refusal) !== undefined) return false;
    return text === null || (typeof text === "string" && (isErrorObject(text) || repeats(error, text)));
  };
  if (content.completions?.every(isReport) === true) content.completions = undefined;
  if (isErrorObject(content.output)) content.output = undefined;
}

/** A short text may occur in an error by chance: the first word of an interrupted response. */
function repeats(error: string, text: string): boolean {
  return text === "" || text === error || (text.length >= 16 && error.includes(text));
}

/** `{"error": …}` with only members that describe it, or `{"output": null}`, as JSON text or as an object. */
function isErrorObject(given: unknown): boolean {
  const value = typeof given === "string" ? parseObjectText(given) : given;
  if (!isObject(value)) return false;
  const { error, ...rest } = value;
  const others = Object.entries(rest).filter(([, member]) => member !== null && member !== "");
  if (error === undefined || error === null || error === false) return others.length === 0;
  return others.every(([name]) => errorMembers.has(name));
}

const errorMembers: ReadonlySet<string> = new Set(["message", "status", "status_code", "code", "type", "param"]);
