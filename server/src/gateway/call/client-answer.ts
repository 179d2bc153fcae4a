import type { OutgoingHttpHeaders } from "node:http";
import { errorCodes, type ServiceError } from "../../domain/errors.ts";
import type { ResponseWriter } from "../../http/response-writer.ts";
import { gatewayLimits } from "../limits.ts";
import type { Exchange } from "./exchange.ts";
import type { UpstreamProblem } from "../providers/provider.ts";

/** An error in OpenAI's form, with its HTTP status. */
export type CallError = {
  status: number;
  message: string;
  type: string;
  param: string | null;
  code: string | null;
  headers?: OutgoingHttpHeaders;
  /** The upstream's own body, if the upstream speaks the caller's API. */
  body?: string;
};

/** How an API states errors. */
export type ErrorForm = {
  /** The error for an upstream that did not answer. */
  ofProblem(problem: UpstreamProblem): CallError;
  /** The error for an upstream that failed within its response. */
  ofBreak(problem: UpstreamProblem): CallError;
  /** The same error with the status that this API uses for it. */
  adapted(error: CallError): CallError;
  body(error: CallError): string;
  /** The event that ends a stream with this error. */
  event(error: CallError): string;
};

/** The error for an upstream that did not answer. Never a 401: that would blame the caller's own key. */
export function errorOfProblem(problem: UpstreamProblem): CallError {
  const { kind, message, type, param, code } = problem;
  if (kind === "request") {
    return { status: 400, message, type: type ?? "invalid_request_error", param: param ?? null, code: code ?? null };
  }
  if (kind === "busy" && problem.isUnsent === true) return ownShortage(message);
  const shownMessage = kind === "credential" ? "The provider refused the credential in use." : message;
  const headers = waitOf(problem);
  return {
    status: 424,
    message: shownMessage,
    type: "upstream_error",
    param: null,
    code: codeOfUpstream(problem),
    ...(headers && { headers }),
  };
}

/** The gateway itself lacks a resource, not the upstream. */
function ownShortage(message: string): CallError {
  return {
    status: 503,
    message,
    type: "server_error",
    param: null,
    code: "unavailable",
    headers: { "retry-after": "5" },
  };
}

/** A machine-readable reason why an upstream did not answer: the upstream's own code if none of ours fits. */
function codeOfUpstream({ kind, status, type, code, message }: UpstreamProblem): string {
  const text = `${type ?? ""} ${code ?? ""} ${message}`;
  if (kind === "credential")
    return isOutOfCredit(status, text) ? "upstream_out_of_credit" : "upstream_authentication_failed";
  if (kind !== "busy") return code ?? "upstream_failed";
  if (status === 408 || status === 504) return "upstream_timeout";
  if (status === 503 || status === 529) return "upstream_overloaded";
  // Errors within a stream have no status: only their text can be matched.
  const isRate =
    status === 429 || /rate.?limit|throttl|too.?many.?requests|resource.?exhausted|quota|\b429\b/i.test(text);
  return isRate ? "upstream_rate_limited" : "upstream_overloaded";
}

function isOutOfCredit(status: number, text: string): boolean {
  return status === 402 || status === 429 || /insufficient_quota|billing|credit|balance|funds/i.test(text);
}

const secondsADay = 24 * 60 * 60;

/** Ignores waits of more than a day. */
function waitOf({ kind, retryAfterMs = 0 }: UpstreamProblem): OutgoingHttpHeaders | undefined {
  const seconds = Math.ceil(retryAfterMs / 1_000);
  return kind !== "credential" && seconds > 0 && seconds <= secondsADay
    ? { "retry-after": String(seconds) }
    : undefined;
}

/** The error for a thrown `ServiceError`: a mistake of the caller or a state of the gateway. */
export function errorOfService(error: ServiceError): CallError {
  const status = errorCodes[error.code];
  const [param] = Object.keys(error.errors ?? {});
  const type = typeOf(status);
  const headers = error.retryAfterS === undefined ? {} : { "retry-after": String(Math.ceil(error.retryAfterS)) };
  return { status, message: error.message, type, param: param ?? null, code: error.code, headers };
}

function typeOf(status: number): string {
  if (status === 403) return "permission_error";
  if (status === 424) return "upstream_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

export const openaiErrors: ErrorForm = {
  ofProblem: errorOfProblem,
  ofBreak: (problem) => ({ ...errorOfProblem(problem), status: 424, type: "upstream_error" }),
  adapted: (error) => error,
  body: ({ message, type, param, code }) => JSON.stringify({ error: { message, type, param, code } }),
  event: (error) => `data: ${openaiErrors.body(error)}\n\n`,
};

const common: OutgoingHttpHeaders = { "x-content-type-options": "nosniff" };

/**
 * Called when nothing in the response can fail any more. It calls `sendEnd`, which sends the end, once that may be
 * sent.
 */
export type BeforeEnd = (sendEnd: () => void) => void;

/**
 * Sends a response with one body.
 * @param beforeEnd called before any byte of the body is sent
 */
export function answerComplete(
  response: ResponseWriter,
  status: number,
  body: Buffer | string,
  headers: OutgoingHttpHeaders,
  beforeEnd: BeforeEnd,
): void {
  response.writeHead(status, {
    ...common,
    "content-type": "application/json",
    "content-length": typeof body === "string" ? Buffer.byteLength(body) : body.length,
    "cache-control": "no-store",
    ...headers,
  });
  beforeEnd(() => void response.end(body));
}

export function answerError(
  response: ResponseWriter,
  error: CallError,
  headers: OutgoingHttpHeaders,
  beforeEnd: BeforeEnd,
  form: ErrorForm = openaiErrors,
): void {
  answerComplete(response, error.status, form.body(error), { ...headers, ...error.headers }, beforeEnd);
}

/** Ends a stream of OpenAI's chat API. */
export const doneEvent = "data: [DONE]\n\n";

/**
 * The stream to a caller. No event is sent before the first content, so that another upstream may still be tried; after
 * that, a failure can only be reported within the stream. The head waits too, unless the response takes so long that an
 * intermediary would consider the connection dead: then the head and a comment are sent early.
 */
export class ClientStream {
  readonly #response: ResponseWriter;
  readonly #head: () => OutgoingHttpHeaders;
  readonly #beforeEnd: BeforeEnd;
  readonly #errors: ErrorForm;
  #waiting: Array<Buffer | string> = [];
  #waitingBytes = 0;
  #sentAtMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #waitsForDrain = false;
  /** Paused while the caller reads slower than data arrives. */
  source: Pick<Exchange, "pause" | "resume"> | undefined;
  /** The head was sent. */
  isOpen = false;
  /** Events were sent: no other upstream may answer. */
  isCommitted = false;

  constructor(
    response: ResponseWriter,
    options: {
      head: () => OutgoingHttpHeaders;
      beforeEnd: BeforeEnd;
      errors?: ErrorForm;
    },
  ) {
    this.#response = response;
    this.#head = options.head;
    this.#beforeEnd = options.beforeEnd;
    this.#errors = options.errors ?? openaiErrors;
  }

  /** From now until `release`, sends a comment after each silence of `commentMs`. */
  keepAlive(commentMs: number): void {
    this.#sentAtMs = performance.now();
    const check = (): void => {
      const idleMs = performance.now() - this.#sentAtMs;
      if (idleMs >= commentMs) this.#comment();
      this.#timer = setTimeout(check, idleMs >= commentMs ? commentMs : commentMs - idleMs).unref();
    };
    this.#timer = setTimeout(check, commentMs).unref();
  }

  /** Stops the comments. */
  release(): void {
    clearTimeout(this.#timer);
  }

  /** Buffers events that come before the first content, up to `bufferedStreamBytes`. */
  buffer(events: Buffer | string): void {
    if (this.isCommitted) return this.write(events);
    this.#waiting.push(typeof events === "string" ? events : Buffer.from(events));
    this.#waitingBytes += events.length;
    if (this.#waitingBytes > gatewayLimits.bufferedStreamBytes) this.#commit();
    return undefined;
  }

  /** @param events complete events */
  write(events: Buffer | string): void {
    if (!this.isCommitted) this.#commit();
    if (this.#response.destroyed) return;
    this.#sentAtMs = performance.now();
    if (!this.#response.write(events)) this.#pauseSource();
  }

  #pauseSource(): void {
    this.source?.pause();
    if (this.#waitsForDrain) return;
    this.#waitsForDrain = true;
    this.#response.once("drain", () => {
      this.#waitsForDrain = false;
      this.source?.resume();
    });
  }

  /** @param lastEvents what remains to be sent; "" if the last event was sent */
  end(lastEvents: string): void {
    if (!this.isCommitted) this.#commit();
    this.#end(lastEvents);
  }

  /** Reports a failure and ends the stream. Drops buffered events. */
  fail(error: CallError): void {
    if (!this.isCommitted) this.reset();
    if (!this.isOpen) this.#open();
    this.isCommitted = true;
    this.#end(this.#errors.event(error));
  }

  #end(lastEvents: string): void {
    this.release();
    this.#beforeEnd(() => {
      if (lastEvents !== "") this.write(lastEvents);
      this.#response.end();
    });
  }

  /** Drops buffered events: another upstream starts over. */
  reset(): void {
    this.#waiting = [];
    this.#waitingBytes = 0;
  }

  /** A single line: the blank line after it would be an empty event to some SDKs. */
  #comment(): void {
    if (this.#response.destroyed) return this.release();
    if (!this.isOpen) this.#open();
    this.#sentAtMs = performance.now();
    this.#response.write(":\n");
    return undefined;
  }

  #commit(): void {
    if (!this.isOpen) this.#open();
    this.isCommitted = true;
    for (const events of this.#waiting) this.#response.write(events);
    this.reset();
  }

  #open(): void {
    this.isOpen = true;
    this.#response.writeHead(200, {
      ...common,
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache, no-store",
      "x-accel-buffering": "no",
      ...this.#head(),
    });
  }
}
