import { integer } from "../../validation/field-readers.ts";

/** Information about a failed call that may contain the status of its HTTP response. */
export type Failure = {
  /** Values of status attributes, the most reliable first. */
  codes: readonly unknown[];
  /** Messages, of one or more lines; the most reliable first. */
  texts: readonly string[];
  /** Names of exceptions and errors, with or without their module. */
  types: readonly string[];
};

/**
 * The HTTP status of a failed call, 400 to 599; undefined if nothing shows it. Most instrumentations only have it in
 * the text of the exception. A number in a text only counts as a status if the words around it show that: `429 tokens`
 * and `500 ms` do not.
 */
export function httpStatusOf({ codes, texts, types }: Failure): number | undefined {
  for (const given of codes) {
    const code = statusIn(given);
    if (code !== undefined) return code;
  }
  const lines = texts.flatMap((text) => text.slice(0, searchedChars).split(/\r?\n/));
  return (
    firstOf(lines, statusInLine) ??
    firstOf(types, (type) => statusByType.get(typeName(type))) ??
    firstOf(lines, statusByNameInLine)
  );
}

/** A longer message is a response that was reported as an error. */
const searchedChars = 32 * 1024;

function statusIn(given: unknown): number | undefined {
  if (given === undefined || given === null || typeof given === "boolean") return undefined;
  const code = integer(given);
  return typeof code === "number" && code >= 400 && code <= 599 ? code : undefined;
}

/** Excludes numbers that count something. */
const notCounted =
  /(?!\d|[.,]\d|%|\s*(?:ms|s|sec|secs|seconds?|minutes?|mins?|hours?|tokens?|chars?|characters?|words?|bytes?|[kmg]i?b|items?|requests?|messages?|rows?|lines?|files?|times|retries|attempts?|results?|documents?|records?|events?|spans?|images?|pages?|users?|dollars?|usd|rpm|tpm|px)\b)/;

const statusForms: readonly RegExp[] = [
  // `Error code: 429 - …`, `status_code: 429, …`, `"statusCode":429`, `status code of 503`, `HTTP status 404`
  /\b(?:error|status|http|response|err)[ _-]?(?:code|status(?:[ _-]?code)?)["']?(?:\s*(?:[:=]|is\b|of\b|was\b))?\s*["']?([45]\d\d)/i,
  // `HTTP 429`, `HTTP/1.1 503 Service Unavailable`, `HTTP error 404`, `status: 429`, `Error 500`, `Error: 404 …`
  /\b(?:http(?:\/\d(?:\.\d)?)?(?:[ _-]error)?|status|error|failed with|responded with|returned|received)["']?(?:\s*[:=])?\s*["'([]?([45]\d\d)/i,
  // `{'error': {'code': 429 …`, `code=429`
  /(?<!\b(?:exit|zip|area|return|country)[ _-])\bcode["']?\s*[:=]\s*["']?([45]\d\d)/i,
  // `404 The model …`, `RateLimitError: 429 …` at the start of a line
  /^\s*(?:[\w.]+(?:Error|Exception|Exhausted|Denied|Unavailable|NotFound|Argument|Unauthenticated):\s*)?([45]\d\d)(?=$|\s*[:\-–{(,.;]|\s+(?!(?:of|out|or|and|to|is|are|was|were|more|less|than|in|on|per|x|by|calls|models|steps|tools)\b)\S)/,
  // A number followed by its reason phrase: `Client error '429 Too Many Requests'`, `[503 Service Unavailable]`
  /\b([45]\d\d)[\s:,-]+(?:Bad Request|Unauthorized|Payment Required|Forbidden|Not Found|Method Not Allowed|Request Timeout|Conflict|Gone|Payload Too Large|Content Too Large|Unprocessable|Too Many Requests|Internal Server Error|Not Implemented|Bad Gateway|Service Unavailable|Gateway Time-?out|Client Error|Server Error|Overloaded|RESOURCE_EXHAUSTED|INVALID_ARGUMENT|FAILED_PRECONDITION|UNAUTHENTICATED|PERMISSION_DENIED|NOT_FOUND|UNAVAILABLE|DEADLINE_EXCEEDED|INTERNAL)\b/i,
].map(
  ({ source, flags }) =>
    new RegExp(
      source.replace(/\(\[45\]\\d\\d\)/, (group) => `${group}${notCounted.source}`),
      flags,
    ),
);

function statusInLine(line: string): number | undefined {
  return firstOf(statusForms, (form) => statusIn(form.exec(line)?.[1]));
}

/** Error names of SDKs and APIs by status. Names of a language's own errors say nothing about the status. */
const statusByType: ReadonlyMap<string, number> = new Map(
  Object.entries({
    400: "BadRequestError BadRequest BadRequestException InvalidRequestError InvalidArgument INVALID_ARGUMENT invalid_request_error ValidationException ContextWindowExceededError ContentPolicyViolationError context_length_exceeded FAILED_PRECONDITION",
    401: "AuthenticationError UnauthorizedError Unauthorized UnauthorizedException Unauthenticated UNAUTHENTICATED authentication_error invalid_api_key UnrecognizedClientException",
    402: "billing_error PaymentRequiredError",
    403: "PermissionDeniedError PermissionDenied PERMISSION_DENIED Forbidden ForbiddenError permission_error AccessDeniedException",
    404: "NotFoundError NotFound NOT_FOUND NotFoundException not_found_error ResourceNotFoundException model_not_found",
    408: "APITimeoutError APIConnectionTimeoutError RequestTimeoutError RequestTimeout ModelTimeoutException",
    409: "ConflictError Conflict ConflictException",
    413: "RequestTooLargeError request_too_large",
    422: "UnprocessableEntityError UnprocessableEntity",
    429: "RateLimitError RateLimitException RateLimited TooManyRequests TooManyRequestsError TooManyRequestsException ThrottlingException ResourceExhausted RESOURCE_EXHAUSTED ServiceQuotaExceededException ModelThrottledException rate_limit_error rate_limit_exceeded insufficient_quota quota_exceeded",
    500: "InternalServerError InternalServerException server_error api_error",
    502: "BadGatewayError BadGateway",
    503: "ServiceUnavailableError ServiceUnavailable ServiceUnavailableException ModelNotReadyException UNAVAILABLE",
    504: "GatewayTimeout GatewayTimeoutError DeadlineExceeded DEADLINE_EXCEEDED timeout_error",
    529: "OverloadedError overloaded_error",
  }).flatMap(([status, names]) => names.split(" ").map((name): [string, number] => [name, Number(status)])),
);

/** The last part of `openai.RateLimitError`. Only the end is searched, because the pattern takes quadratic time. */
function typeName(type: string): string {
  return /\w+$/.exec(type.trim().slice(-searchedTypeChars))?.[0] ?? "";
}

const searchedTypeChars = 200;

/** `litellm.RateLimitError: …`, `{'type': 'overloaded_error', …`, `An error occurred (ThrottlingException) when …` */
function statusByNameInLine(line: string): number | undefined {
  const names = [
    ...line.matchAll(/(?:^|\s|\.)([A-Z]\w+)(?=:|\()/g),
    ...line.matchAll(/["'](?:type|code|status)["']\s*:\s*["'](\w+)["']/g),
    ...line.matchAll(/\((\w+Exception)\)/g),
  ].map(([, name = ""]) => name);
  return firstOf(names, (name) => statusByType.get(name));
}

function firstOf<T>(values: readonly T[], read: (value: T) => number | undefined): number | undefined {
  for (const value of values) {
    const found = read(value);
    if (found !== undefined) return found;
  }
  return undefined;
}
