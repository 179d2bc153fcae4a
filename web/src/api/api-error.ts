/** Messages by the path of the field. */
export type FieldErrors = Readonly<Record<string, readonly string[]>>;

type Particulars = {
  status: number;
  code?: string | undefined;
  errors?: FieldErrors | undefined;
  requestId?: string | undefined;
  retryAfterS?: number | undefined;
  spanId?: string | undefined;
};

/** What the server said to a request that failed. */
export class ApiError extends Error {
  readonly status: number;
  /** `invalid_request`, `not_found` and so on; empty where the server names none. */
  readonly code: string;
  /** What is wrong with each field that the request sent. */
  readonly errors: FieldErrors;
  /** To be found in the log of the server. */
  readonly requestId: string | undefined;
  /** Seconds to wait before another try, where the server names them. */
  readonly retryAfterS: number | undefined;
  /** The span of a call through the gateway. */
  readonly spanId: string | undefined;

  constructor(message: string, { status, code = "", errors = {}, requestId, retryAfterS, spanId }: Particulars) {
    super(message);
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

/** `{detail, code, errors}`, OpenAI's `{error: {message, code}}`, or the bare fields with their messages. */
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
    if (Array.isArray(messages)) found[field] = messages.map(String);
    else Object.assign(found, fieldErrors(messages, field));
  }
  return found;
}

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
