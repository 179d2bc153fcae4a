import type { OutgoingHttpHeaders } from "node:http";
import type { ServiceError } from "../../domain/errors.ts";
import { answerHeaders } from "../call/answer-headers.ts";
import { newLedger, takeParams, type CallLedger } from "../call/call-ledger.ts";
import { errorOfService } from "../call/client-answer.ts";
import type { GatewayCall } from "../call/operation.ts";
import type { Recorder } from "./recorder.ts";
import { readServiceParams } from "../request/service-params.ts";
import { spanOfCall } from "./span-of-call.ts";

/** A call of which nothing but the head was read. */
export type UnreadCall = Pick<GatewayCall, "origin" | "permissions" | "headers" | "startedAtMs" | "elapsedMs">;

/**
 * Records a call whose body was refused before it was read: all that is known of it stands in its head. What was refused for want of
 * memory is counted alone, as more records would only add to it.
 *
 * @returns the headers that tell the caller of the record
 * @throws ServiceError `unavailable` when the record might find no room.
 */
export async function recordRefusal(
  recorder: Pick<Recorder, "add" | "claim" | "during">,
  logType: CallLedger["logType"],
  call: UnreadCall,
  error: ServiceError,
): Promise<OutgoingHttpHeaders> {
  if (error.code === "unavailable") return {};
  const ledger = newLedger(call, recorder, logType);
  takeHeaderParams(ledger, call);
  const { status, message } = errorOfService(error);
  Object.assign(ledger, { statusCode: status, errorMessage: message, endedMs: call.elapsedMs() });
  const record = { body: () => spanOfCall(ledger), origin: ledger.origin, identity: ledger.identity };
  await recorder.during(
    ledger.origin.organization_id,
    () => new Promise<void>((resolve) => recorder.add(record, resolve)),
  );
  return answerHeaders(ledger, { overheadMs: ledger.endedMs });
}

/** Parameters that are wrong too are told by nobody: the body is what the call is refused for. */
function takeHeaderParams(ledger: CallLedger, call: UnreadCall): void {
  try {
    takeParams(ledger, readServiceParams({}, call));
  } catch {
    ledger.isUnread = true;
  }
}
