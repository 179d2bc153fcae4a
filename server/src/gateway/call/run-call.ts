import type { OutgoingHttpHeaders } from "node:http";
import { ServiceError } from "../../domain/errors.ts";
import type { SpanOrigin } from "../../ingest/normalize/normalize.ts";
import type { GatewayMetrics } from "../../telemetry/gateway-metrics.ts";
import { admitCall, observeCustomer, refusalOf } from "./admit-call.ts";
import type { Budgets } from "./budgets.ts";
import { CallAnswer } from "./call-answer.ts";
import { applyPlan, recordCached } from "./call-ledger.ts";
import { CallRecord, type RecordDeps } from "./call-record.ts";
import { errorOfService } from "./client-answer.ts";
import { estimateCost } from "../estimate/estimators.ts";
import type { CallOperation, CallRequest, GatewayCall } from "./operation.ts";
import { recordRefusal, type UnreadCall } from "../record/record-refusal.ts";
import type { Recorder } from "../record/recorder.ts";
import type { RoutedCall } from "../routing/plan.ts";
import { answerFromCache, runAttempts, type AttemptDeps } from "./run-attempts.ts";
import type { Router } from "../routing/router.ts";

export type CallDeps = AttemptDeps &
  RecordDeps & {
    /** Milliseconds of silence after which a stream to a caller gets a comment. */
    commentMs: number;
    router: Router;
    budgets: Budgets;
    recorder: Pick<Recorder, "add" | "claim" | "during">;
    metrics: GatewayMetrics;
  };

/** Runs model calls of every operation. */
export type CallRunner = {
  /**
   * Answers a call and records it as one span, however it ends. @throws ServiceError `unavailable` if it cannot record
   */
  run(operation: CallOperation, call: GatewayCall): Promise<void>;
  /** Records a call whose body was refused. @throws ServiceError `unavailable` if it cannot record */
  refuse(operation: CallOperation, call: UnreadCall, error: ServiceError): Promise<OutgoingHttpHeaders>;
};

export function createCallRunner(deps: CallDeps): CallRunner {
  return {
    run: (operation, call) => deps.recorder.during(call.origin.organization_id, () => runCall(deps, operation, call)),
    refuse: ({ logType }, call, error) => recordRefusal(deps.recorder, logType, call, error),
  };
}

/**
 * One call, from its first byte to its span: read, route, look in the cache, admit, attempt, answer, record. Rejects only for
 * faults of the gateway, which are recorded too.
 */
async function runCall(deps: CallDeps, operation: CallOperation, call: GatewayCall): Promise<void> {
  const record = new CallRecord(deps, operation, call);
  const answer = new CallAnswer(operation, call, record, deps.prices);
  const { ledger } = record;
  const { signal, origin } = call;
  try {
    const request = await operation.read(call, ledger);
    const active = { call, request, record, answer };
    record.setRequest(request);
    if (request.isStream) answer.stream.keepAlive(deps.commentMs);

    const plan = await deps.router.plan(routedCall(operation, request, origin), signal);
    applyPlan(ledger, plan);

    const cached = await request.findCached?.(plan);
    signal.throwIfAborted();
    if (cached !== undefined) {
      await observeCustomer(deps.budgets, origin, request.params);
      recordCached(ledger, cached, call.elapsedMs());
      return answer.end(await answerFromCache(active, cached));
    }

    const admission = await admitCall(deps.budgets, ledger, request.params, () =>
      estimateCost(deps.prices, {
        organizationId: origin.organization_id,
        operation: operation.operation,
        request,
        plan,
        atMs: call.startedAtMs,
      }),
    );
    record.admission = admission;
    ledger.limitInfo = admission.limitInfo;
    const refusal = refusalOf(admission);
    if (refusal !== undefined) return answer.refuse(refusal);

    return answer.end(await runAttempts(deps, active, plan));
  } catch (error) {
    if (signal.aborted) return answer.abandon();
    if (error instanceof ServiceError) return answer.refuse(errorOfService(error));
    ledger.statusCode = 500;
    ledger.errorMessage = "Something went wrong in the gateway.";
    throw error;
  } finally {
    answer.stream.release();
    await record.written();
  }
}

function routedCall(
  { operation }: CallOperation,
  { model, params, routeProvider, betas, keyMark }: CallRequest,
  { organization_id, environment }: SpanOrigin,
): RoutedCall {
  return { organizationId: organization_id, environment, model, params, routeProvider, betas, operation, keyMark };
}
