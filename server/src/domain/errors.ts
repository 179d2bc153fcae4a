/**
 * The closed list of errors that a caller can act on. Everything else is a fault of the server: it is logged with the
 * request id and returned as `internal`.
 */
export const errorCodes = {
  invalid_request: 400,
  organization_blocked: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  payload_too_large: 413,
  query_too_large: 413,
  unsupported_media_type: 415,
  expectation_failed: 417,
  validation_failed: 422,
  too_many_rows: 422,
  no_credential: 424,
  upstream_failed: 424,
  rate_limited: 429,
  internal: 500,
  unavailable: 503,
} as const;

export type ErrorCode = keyof typeof errorCodes;

/** Problems per field: `{ "logs.3.cost": ["must be a number"] }`. */
export type FieldErrors = Record<string, string[]>;

/** The key of problems with the body as a whole. */
export const wholeBody = "body";

export type ServiceErrorDetails = {
  /** Field-keyed problems of a bad body or query. */
  errors?: FieldErrors;
  /** Seconds after which a retry makes sense; sent as `Retry-After` and `retry_after`. */
  retryAfterS?: number;
  cause?: unknown;
};

/** Thrown only if the cause is known and the caller can act on it. Mapped to HTTP in `http/error-reply.ts`. */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly errors: FieldErrors | undefined;
  readonly retryAfterS: number | undefined;

  constructor(code: ErrorCode, message: string, details: ServiceErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = "ServiceError";
    this.code = code;
    this.errors = details.errors;
    this.retryAfterS = details.retryAfterS;
  }
}

/** A body that cannot be read at all. `what` completes the sentence "The body …". */
export function badBody(what: string, cause?: unknown): ServiceError {
  return new ServiceError("invalid_request", `The body ${what}.`, { errors: { [wholeBody]: [what] }, cause });
}
