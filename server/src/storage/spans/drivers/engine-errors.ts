import { ServiceError } from "../../../domain/errors.ts";
import { SpanInsertError } from "../span-store.ts";

/** Error codes from ClickHouse's `src/Common/ErrorCodes.cpp`. */

/** TOO_MANY_ROWS, TIMEOUT_EXCEEDED, TOO_DEEP_AST, TOO_BIG_AST, TOO_SLOW, CANNOT_ALLOCATE_MEMORY, SET_SIZE_LIMIT_EXCEEDED, MEMORY_LIMIT_EXCEEDED, TOO_MANY_BYTES, TOO_MANY_ROWS_OR_BYTES. */
const tooLargeCodes = new Set([158, 159, 160, 167, 168, 173, 191, 241, 307, 396]);

/**
 * The store exists but cannot respond now: ALL_CONNECTION_TRIES_FAILED, TOO_MANY_SIMULTANEOUS_QUERIES,
 * NO_FREE_CONNECTION, SOCKET_TIMEOUT, NETWORK_ERROR, NO_ZOOKEEPER, ABORTED, TABLE_IS_READ_ONLY, NOT_ENOUGH_SPACE,
 * TOO_FEW_LIVE_REPLICAS, ALL_REPLICAS_ARE_STALE, AUTHENTICATION_FAILED, KEEPER_EXCEPTION.
 */
const unavailableCodes = new Set([279, 202, 203, 209, 210, 225, 236, 242, 243, 285, 369, 516, 999]);

/**
 * The content of the rows is invalid: CANNOT_PARSE_TEXT, CANNOT_PARSE_ESCAPE_SEQUENCE, …QUOTED_STRING,
 * …INPUT_ASSERTION_FAILED, CANNOT_READ_ALL_DATA, CANNOT_PARSE_DATE, …DATETIME, TYPE_MISMATCH, ARGUMENT_OUT_OF_BOUND,
 * CANNOT_CONVERT_TYPE, CANNOT_PARSE_NUMBER, CANNOT_READ_ARRAY_FROM_TEXT, INCORRECT_DATA, TOO_LARGE_STRING_SIZE,
 * UNKNOWN_ELEMENT_OF_ENUM, CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN, DECIMAL_OVERFLOW, CANNOT_PARSE_UUID,
 * CANNOT_READ_MAP_FROM_TEXT, CANNOT_PARSE_BOOL.
 */
const poisonCodes = new Set([6, 25, 26, 27, 33, 38, 41, 53, 69, 70, 72, 117, 130, 131, 349, 376, 407, 464, 467, 691]);

/** The server sent no response, or one that is not ClickHouse's. */
export class UnreachableError extends Error {
  constructor(cause: unknown) {
    super("no response from the span store", { cause });
    this.name = "UnreachableError";
  }
}

/** The code of a ClickHouse exception, wherever the client put it; undefined for other errors. */
function engineCode(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  const { code, clickhouseCode, cause } = error as { code?: unknown; clickhouseCode?: unknown; cause?: unknown };
  if (typeof clickhouseCode === "number") return clickhouseCode;
  if (typeof code === "string" && /^\d+$/.test(code)) return Number(code);
  const written = error instanceof Error ? /\bCode: (\d+)\. DB::Exception/.exec(error.message) : null;
  return written ? Number(written[1]) : engineCode(cause);
}

/** Wraps an error of the client in `UnreachableError` unless it comes from ClickHouse. */
export function orUnreachable(error: unknown): unknown {
  return engineCode(error) === undefined ? new UnreachableError(error) : error;
}

/** Maps the error of a failed statement to a `ServiceError`. Returns our own errors unchanged. */
export function asReadError(error: unknown): unknown {
  const code = engineCode(error) ?? 0;
  if (error instanceof UnreachableError || unavailableCodes.has(code) || isServerOutOfMemory(error)) {
    return new ServiceError("unavailable", "the span store cannot be reached", { retryAfterS: 1, cause: error });
  }
  if (tooLargeCodes.has(code)) {
    const advice = "narrow the time range or add filters";
    return new ServiceError("query_too_large", `the query needs more time or memory than one may take: ${advice}`, {
      cause: error,
    });
  }
  return error;
}

/** Whether the server as a whole is out of memory, which says nothing about this query. */
function isServerOutOfMemory(error: unknown): boolean {
  return error instanceof Error && /memory limit \(total\)|\(total\) memory limit/i.test(error.message);
}

export function asInsertError(error: unknown): SpanInsertError {
  if (error instanceof SpanInsertError) return error;
  const code = engineCode(error);
  const row = error instanceof Error ? /\(at row (\d+)\)/.exec(error.message) : null;
  const kind = code !== undefined && poisonCodes.has(code) ? "poison" : "retryable";
  return new SpanInsertError(kind, { failedRow: row ? Number(row[1]) : undefined, cause: error });
}
