import { z } from "zod";
import { ServiceError, type ErrorCode, type FieldErrors } from "../../domain/errors.ts";
import { isObject } from "../../lib/json.ts";
import { storageLimits } from "../../storage/limits.ts";
import { sentenceOf } from "./span-ingest.ts";

/** Requests with many independent rows in `logs`. */

const rowError = z.object({
  index: z.int().min(0).meta({ description: "Index of the row in `logs`, from 0." }),
  error: z.string(),
  code: z.string(),
  errors: z.record(z.string(), z.array(z.string())),
});

export const bulkResult = z
  .object({
    success_count: z.int().meta({ description: "Rows that passed validation and are on disk." }),
    error_count: z.int(),
    errors: z.array(rowError),
    message: z.string(),
  })
  .meta({ id: "BulkResult" });

/** @throws ServiceError `invalid_request`, `too_many_rows` */
export function readRows(body: unknown): unknown[] {
  const logs = isObject(body) ? body["logs"] : undefined;
  if (Array.isArray(body)) throw invalidLogs('logs must stand in an object: {"logs": [...]}');
  if (!Array.isArray(logs)) throw invalidLogs("logs must be a list of objects");
  if (logs.length === 0) throw invalidLogs("logs must not be empty");
  if (logs.length > storageLimits.bulkRows) {
    const message = `logs must hold at most ${storageLimits.bulkRows} rows, not ${logs.length}`;
    throw new ServiceError("too_many_rows", `${message}.`, { errors: { logs: [message] } });
  }
  return logs as unknown[];
}

function invalidLogs(message: string): ServiceError {
  return new ServiceError("invalid_request", `${message}.`, { errors: { logs: [message] } });
}

/**
 * @param refusals the refusal of each row, undefined if it was accepted @param done what happened to the others, as in
 * `accepted`
 */
export function presentResult(
  refusals: ReadonlyArray<{ code: ErrorCode; errors: FieldErrors } | undefined>,
  done: string,
): z.input<typeof bulkResult> {
  const errors = refusals.flatMap((refusal, index) =>
    refusal === undefined
      ? []
      : [{ index, error: sentenceOf(refusal.errors), code: refusal.code, errors: refusal.errors }],
  );
  const success_count = refusals.length - errors.length;
  return {
    success_count,
    error_count: errors.length,
    errors,
    message: `${success_count} of ${refusals.length} logs ${done}`,
  };
}
