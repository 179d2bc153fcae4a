import type { OutgoingHttpHeaders } from "node:http";
import type { ServiceError } from "../../domain/errors.ts";
import { answerHeaders } from "../call/call-answer.ts";
import { newLedger, applyParams, type CallLedger } from "../call/call-ledger.ts";
import { errorOfService } from "../call/client-answer.ts";
import type { GatewayCall } from "../call/operation.ts";
import { readServiceParams } from "../request/service-params.ts";
import { spanOfCall } from "./call-record.ts";
import type { Recorder } from "./recorder.ts";

/** A call of which only the head was read. */
export type UnreadCall = Pick<GatewayCall, "origin" | "permissions" | "headers" | "startedAtMs" | "elapsedMs">;

/**
 * Records a call whose body was refused before it was read: only its head is known. Calls that were refused for lack of
 * memory are not recorded, as more records would add to the shortage.
 * @returns the headers that name the record to the caller
 * @throws ServiceError `unavailable` if there might be no room for the record
 */
export async function recordRefusal(
  recorder: Pick<Recorder, "add" | "claim" | "during">,
  logType: CallLedger["logType"],
  call: UnreadCall,
  error: ServiceError,
): Promise<OutgoingHttpHeaders> {
  if (error.code === "unavailable") return {};
  const ledger = newLedger(call, recorder, logType);
  applyHeaderParams(ledger, call);
  const { status, message } = errorOfService(error);
  Object.assign(ledger, { statusCode: status, errorMessage: message, endedMs: call.elapsedMs() });
  const record = { body: () => spanOfCall(ledger), origin: ledger.origin, identity: ledger.identity };
  await recorder.during(
    ledger.origin.organization_id,
    () => new Promise<void>((resolve) => recorder.add(record, resolve)),
  );
  return answerHeaders(ledger, { overheadMs: ledger.endedMs });
}

/** Ignores wrong parameters: the caller gets the error for the body. */
function applyHeaderParams(ledger: CallLedger, call: UnreadCall): void {
  try {
    applyParams(ledger, readServiceParams({}, call));
  } catch {
    ledger.isUnread = true;
  }
}
