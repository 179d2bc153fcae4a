import { visibleText } from "../lib/visible-text.ts";

/** Messages by field path. */
export type FieldErrors = Readonly<Record<string, readonly string[]>>;

type Particulars = {
  status: number;
  code?: string | undefined;
  errors?: FieldErrors | undefined;
  requestId?: string | undefined;
  retryAfterS?: number | undefined;
  spanId?: string | undefined;
};

/** A failed request, as the server described it. */
export class ApiError extends Error {
  readonly status: number;
  /** `invalid_request`, `not_found` and so on; empty if the server names no code. */
  readonly code: string;
  /** Messages for each invalid field of the request. */
  readonly errors: FieldErrors;
  /** Finds the request in the server's log. */
  readonly requestId: string | undefined;
  /** Seconds to wait before a retry, if the server states them. */
  readonly retryAfterS: number | undefined;
  /** The span of a gateway call. */
  readonly spanId: string | undefined;

  constructor(message: string, { status, code = "", errors = {}, requestId, retryAfterS, spanId }: Particulars) {
    super(visibleText(message));
    this.name = "ApiError";
    this.status = status;
    this.code = code;
    this.errors = errors;
    this.requestId = requestId;
    this.retryAfterS = retryAfterS;
    this.spanId = spanId;
  }

  static async of(response: Response): Promise<ApiError> {
    const { status, headers } = response;
    const body: unknown = await response.json().catch(() => undefined);
    const { message, code, errors } = wordsOf(body);
    const retryAfter = headers.get("retry-after");
    return new ApiError(message ?? `The server answered ${status}.`, {
      status,
      code,
      errors,
      requestId: headers.get("x-request-id") ?? undefined,
      spanId: headers.get("x-spanway-log-id") ?? undefined,
      retryAfterS: retryAfter === null || !/^\d+$/.test(retryAfter) ? undefined : Number(retryAfter),
    });
  }
}

type Words = { message?: string | undefined; code?: string | undefined; errors?: FieldErrors | undefined };

/** Reads `{detail, code, errors}`, OpenAI's `{error: {message, code}}`, or bare fields with their messages. */
function wordsOf(body: unknown): Words {
  if (!isObject(body)) return {};
  if (typeof body["detail"] === "string") {
    return { message: body["detail"], code: text(body["code"]), errors: fieldErrors(body["errors"]) };
  }
  if (isObject(body["error"])) return { message: text(body["error"]["message"]), code: text(body["error"]["code"]) };
  const errors = fieldErrors(body);
  const first = Object.entries(errors)[0];
  return first === undefined ? {} : { message: `${first[0]}: ${first[1].join(" ")}`, code: "invalid_request", errors };
}

function fieldErrors(value: unknown, path = ""): FieldErrors {
  if (!isObject(value)) return {};
  const found: Record<string, readonly string[]> = {};
  for (const [name, messages] of Object.entries(value)) {
    const field = path === "" ? name : `${path}.${name}`;
    if (Array.isArray(messages)) found[field] = messages.map((message) => visibleText(String(message)));
    else Object.assign(found, fieldErrors(messages, field));
  }
  return found;
}

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
