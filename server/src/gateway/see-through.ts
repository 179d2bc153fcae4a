import { ServiceError } from "../domain/errors.ts";
import type { CallLedger } from "./call-ledger.ts";
import { errorOfService, type CallError } from "./client-answer.ts";

type CallSteps = {
  ledger: CallLedger;
  /** Aborted when the caller goes away or the service stops. */
  signal: AbortSignal;
  /** Answers, or gives the error to answer with where nothing was sent yet. */
  proceed: () => Promise<CallError | undefined>;
  refuse: (error: CallError) => void;
  /** Ends a call that was cut. */
  cut: () => void;
  /** Called however the call ended: sees to its record where its answer did not, and resolves when it is there. */
  finish: () => Promise<void> | undefined;
};

/** Sees a call through to its record, whatever becomes of it. Never rejects but for faults of ours, which are recorded as well. */
export async function seeThrough({ ledger, signal, proceed, refuse, cut, finish }: CallSteps): Promise<void> {
  try {
    const error = await proceed();
    if (error !== undefined) refuse(error);
  } catch (error) {
    if (signal.aborted) cut();
    else if (error instanceof ServiceError) refuse(errorOfService(error));
    else {
      ledger.statusCode = 500;
      ledger.errorMessage = "Something went wrong in the gateway.";
      throw error;
    }
  } finally {
    await finish();
  }
}
