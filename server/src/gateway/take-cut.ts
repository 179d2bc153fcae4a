import { ServiceError } from "../domain/errors.ts";
import type { CallLedger } from "./call-ledger.ts";
import { errorOfService, type CallError } from "./client-answer.ts";

/**
 * A call that ended before its answer was whole: its caller left, which is 499 as nginx has it, or the service stops and could
 * wait no longer, which is what the caller is then to be told.
 */
export function takeCut(ledger: CallLedger, signal: AbortSignal): CallError | undefined {
  ledger.isCut = true;
  const error = signal.reason instanceof ServiceError ? errorOfService(signal.reason) : undefined;
  ledger.statusCode = error?.status ?? 499;
  ledger.errorMessage = error?.message ?? "The client closed the connection.";
  return error;
}
