import type { OutgoingHttpHeaders } from "node:http";
import { errorCodes, type ServiceError } from "../../domain/errors.ts";
import type { ResponseWriter } from "../../http/response-writer.ts";
import { gatewayLimits } from "../limits.ts";
import type { Exchange } from "./exchange.ts";
import type { UpstreamProblem } from "../providers/provider.ts";

/** An error as OpenAI has it, with its status. */
export type CallError = {
  status: number;
  message: string;
  type: string;
  param: string | null;
  code: string | null;
  headers?: OutgoingHttpHeaders;
  /** The body itself, where an upstream of the caller's own API said it. */
  body?: string;
};

/** How an API tells errors. */
export type ErrorForm = {
  /** What a caller is told of an upstream that did not answer. */
  ofProblem(problem: UpstreamProblem): CallError;
  /** The same of one that failed within its answer. */
  ofBreak(problem: UpstreamProblem): CallError;
  /** The same error, with the status that the API has for it. */
  told(error: CallError): CallError;
  body(error: CallError): string;
  /** The event that ends a stream. */
  event(error: CallError): string;
};

/** What a caller is told of an upstream that did not answer: never a 401, which would blame the caller's own key. */
export function errorOfProblem(problem: UpstreamProblem): CallError {
  const { kind, message, type, param, code } = problem;
  if (kind === "request") {
    return { status: 400, message, type: type ?? "invalid_request_error", param: param ?? null, code: code ?? null };
  }
  if (kind === "busy" && problem.isUnsent === true) return ownShortage(message);
  const told = kind === "credential" ? "The provider refused the credential in use." : message;
  const headers = waitOf(problem);
  return {
    status: 424,
    message: told,
    type: "upstream_error",
    param: null,
    code: codeOfUpstream(problem),
    ...(headers && { headers }),
  };
}

/** It is ours that something is short, not the upstream's. */
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

/** Why an upstream did not answer, for programs. The upstream's own code is told where none of ours says it. */
function codeOfUpstream({ kind, status, type, code, message }: UpstreamProblem): string {
  const words = `${type ?? ""} ${code ?? ""} ${message}`;
  if (kind === "credential")
    return isOutOfMoney(status, words) ? "upstream_out_of_credit" : "upstream_authentication_failed";
  if (kind !== "busy") return code ?? "upstream_failed";
  if (status === 408 || status === 504) return "upstream_timeout";
  if (status === 503 || status === 529) return "upstream_overloaded";
  // Within a stream there are words alone.
  const isRate =
    status === 429 || /rate.?limit|throttl|too.?many.?requests|resource.?exhausted|quota|\b429\b/i.test(words);
  return isRate ? "upstream_rate_limited" : "upstream_overloaded";
}

function isOutOfMoney(status: number, words: string): boolean {
  return status === 402 || status === 429 || /insufficient_quota|billing|credit|balance|funds/i.test(words);
}

const secondsADay = 24 * 60 * 60;

/** What is absurd was not asked for. */
function waitOf({ kind, retryAfterMs = 0 }: UpstreamProblem): OutgoingHttpHeaders | undefined {
  const seconds = Math.ceil(retryAfterMs / 1_000);
  return kind !== "credential" && seconds > 0 && seconds <= secondsADay
    ? { "retry-after": String(seconds) }
    : undefined;
}

/** A mistake of the caller's, or a state of ours, that was thrown. */
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
  told: (error) => error,
  body: ({ message, type, param, code }) => JSON.stringify({ error: { message, type, param, code } }),
  event: (error) => `data: ${openaiErrors.body(error)}\n\n`,
};

const common: OutgoingHttpHeaders = { "x-content-type-options": "nosniff" };

/**
 * Called once nothing of an answer can fail any more, with what sends the end of it: called back when that may go out.
 */
export type BeforeEnd = (sendEnd: () => void) => void;

/**
 * Answers with one body.
 * @param beforeEnd called before any byte of it is sent
 */
export function answerWhole(
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
  answerWhole(response, error.status, form.body(error), { ...headers, ...error.headers }, beforeEnd);
}

/** Ends a stream of OpenAI's chat. */
export const doneEvent = "data: [DONE]\n\n";

/**
 * The stream to a caller. No event of it is sent before its first content, so that until then another upstream may be
 * asked; from then on what fails can only be told within the stream. The same holds for its head, unless the answer takes so long
 * that whoever stands between would take the connection for dead: then head and a comment go out before.
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
  /** What is paused while the caller reads slower than it is sent to. */
  source: Pick<Exchange, "pause" | "resume"> | undefined;
  /** The head went out. */
  isOpen = false;
  /** Events went out: no other upstream may answer. */
  isCommitted = false;

  constructor(
    response: ResponseWriter,
    told: {
      head: () => OutgoingHttpHeaders;
      beforeEnd: BeforeEnd;
      errors?: ErrorForm;
    },
  ) {
    this.#response = response;
    this.#head = told.head;
    this.#beforeEnd = told.beforeEnd;
    this.#errors = told.errors ?? openaiErrors;
  }

  /** From here on a silence of so many milliseconds is filled with a comment, until `release`. */
  keepAlive(commentMs: number): void {
    this.#sentAtMs = performance.now();
    const look = (): void => {
      const quietMs = performance.now() - this.#sentAtMs;
      if (quietMs >= commentMs) this.#comment();
      this.#timer = setTimeout(look, quietMs >= commentMs ? commentMs : commentMs - quietMs).unref();
    };
    this.#timer = setTimeout(look, commentMs).unref();
  }

  /** No comment goes out any more. */
  release(): void {
    clearTimeout(this.#timer);
  }

  /** Events before the first content: they wait for it, as long as they are few. */
  hold(events: Buffer | string): void {
    if (this.isCommitted) return this.write(events);
    this.#waiting.push(typeof events === "string" ? events : Buffer.from(events));
    this.#waitingBytes += events.length;
    if (this.#waitingBytes > gatewayLimits.heldStreamBytes) this.#commit();
    return undefined;
  }

  /** Whole events. */
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

  /** @param lastEvents what is still to be said; "" where the last event went out */
  end(lastEvents: string): void {
    if (!this.isCommitted) this.#commit();
    this.#end(lastEvents);
  }

  /** Tells of a failure, and ends. What waits is of no more use. */
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

  /** Forgets what waits: another upstream begins anew. */
  reset(): void {
    this.#waiting = [];
    this.#waitingBytes = 0;
  }

  /** A line alone: the blank line after it would be an empty event to some SDKs. */
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
