import type { OutgoingHttpHeaders } from "node:http";
import { ServiceError } from "../../domain/errors.ts";
import type { SpanOrigin } from "../../ingest/normalize/normalize.ts";
import type { Pools } from "../../outgoing/pools.ts";
import type { PriceBook } from "../../pricing/price-book.ts";
import type { GatewayMetrics } from "../../telemetry/gateway-metrics.ts";
import { estimateCost } from "../estimate/estimators.ts";
import type { UpstreamProblem } from "../providers/provider.ts";
import { understandProblem } from "../providers/shared/understand-problem.ts";
import { recordRefusal, type UnreadCall } from "../record/record-refusal.ts";
import type { Recorder } from "../record/recorder.ts";
import type { RoutedCall, Plan, PlanStep } from "../routing/plan.ts";
import { builtInProvider } from "../routing/provider-table.ts";
import type { Router } from "../routing/router.ts";
import { admitCall, observeCustomer, refusalOf, type Budgets } from "./admit-call.ts";
import { noteAttempt, timesOf, sendToUpstream, readReply, type AttemptEnd, type AttemptRun } from "./attempt.ts";
import { CallAnswer } from "./call-answer.ts";
import { applyPlan, recordCached, beginAttempt, costOfAnswer, isPaid, recordFailure } from "./call-ledger.ts";
import { CallRecord, type RecordDeps } from "../record/call-record.ts";
import { errorOfService } from "./client-answer.ts";
import type { UpstreamTimeouts } from "./exchange.ts";
import type {
  CallOperation,
  CallRequest,
  GatewayCall,
  ReaderOptions,
  CachedReply,
  UpstreamRequest,
} from "./operation.ts";

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

type AttemptDeps = {
  pools: Pools;
  timeouts: UpstreamTimeouts;
  prices: PriceBook;
  metrics: Pick<GatewayMetrics, "attempts">;
};

/** One call that is sent to upstreams. */
type ActiveCall = { call: GatewayCall; request: CallRequest; record: CallRecord; answer: CallAnswer };

/**
 * Follows the plan until an upstream answers, and reports to the plan how each attempt ended.
 * @returns the end of the last attempt: the problem to respond with, if no upstream answered
 */
async function runAttempts(deps: AttemptDeps, active: ActiveCall, plan: Plan): Promise<AttemptEnd> {
  const { answer } = active;
  let problem: UpstreamProblem | undefined;
  for (;;) {
    const step = await plan.next(problem);
    if (step === undefined) return { kind: "problem", problem: plan.problem(), hasContent: false };
    answer.upstreamMs += step.waitedMs;
    const end = await runAttempt(deps, active, step, plan);
    deps.metrics.attempts.inc({ outcome: end.kind === "problem" ? end.problem.kind : outcomes[end.kind] });
    if (end.kind !== "problem") {
      plan.report(step.attempt, end.kind === "aborted" ? "aborted" : "success");
      return end;
    }
    if (end.hasContent) {
      plan.report(step.attempt, end.problem);
      return end;
    }
    if (leftMs(deps, active) <= 0) {
      plan.report(step.attempt, end.problem);
      return { ...end, problem: plan.problem(end.problem) };
    }
    problem = end.problem;
  }
}

const outcomes = { reply: "success", streamed: "success", aborted: "gone" } as const;

/** Sends a cached answer to this caller. */
function answerFromCache(active: ActiveCall, { reply, adjusted }: CachedReply): Promise<AttemptEnd> {
  const how = { attempt: undefined, hasManyKeys: false, mayFallBack: () => false };
  const run = newRun(active, how, () => undefined);
  active.answer.adjusted = adjusted;
  return readReply(reply, run);
}

/** The time left for the call, over all its attempts. */
function leftMs({ timeouts }: AttemptDeps, { call }: ActiveCall): number {
  return timeouts.totalMs - call.elapsedMs();
}

/** Calls one upstream: once, or once more without a parameter that it refused. */
async function runAttempt(deps: AttemptDeps, active: ActiveCall, step: PlanStep, plan: Plan): Promise<AttemptEnd> {
  const { call, request, record } = active;
  const { attempt } = step;
  beginAttempt(record.ledger, attempt.target, deps.prices);
  record.ledger.routedMs ??= call.elapsedMs();
  const end = await sendOnce(deps, active, step, plan);
  if (end.kind !== "problem" || end.hasContent || request.isCallChanged?.(attempt, end.problem) !== true) return end;
  record.ledger.attempts += 1;
  return await sendOnce(deps, active, step, plan);
}

async function sendOnce(deps: AttemptDeps, active: ActiveCall, step: PlanStep, plan: Plan): Promise<AttemptEnd> {
  const { call, record, answer } = active;
  const { ledger } = record;
  const { attempt, furtherModels } = step;
  const startMs = call.elapsedMs();
  let isStarted = false;
  const how: ReaderOptions = {
    attempt,
    hasManyKeys: plan.hasManyKeys,
    mayFallBack: () => furtherModels > 0 && !answer.stream.isCommitted,
  };
  const run = newRun(active, how, () => {
    isStarted = true;
    answer.upstreamMs += call.elapsedMs() - startMs;
    plan.report(attempt, "started");
  });
  answer.isUpstreamActive = true;
  const ended = await send(deps, active, step, run);
  const tookMs = call.elapsedMs() - startMs;
  if (!isStarted) answer.upstreamMs += tookMs;
  if (ended.kind !== "problem") {
    noteAttempt(ledger.attemptNotes, attempt, ended.kind === "aborted" ? "aborted" : "success", tookMs);
    return ended;
  }
  answer.isUpstreamActive = false;
  const problem = understandProblem(ended.problem, attempt.target.credential);
  const hasContent = ended.hasContent || answer.stream.isCommitted;
  const { digest } = run.reader;
  if (hasContent) record.settleUsage(digest, problem.usage);
  else recordFailure(ledger, problem, digest);
  const costUsd = isPaid(ledger) ? costOfAnswer(ledger, deps.prices) : null;
  noteAttempt(ledger.attemptNotes, attempt, problem, tookMs, costUsd ?? undefined);
  return { kind: "problem", problem, hasContent };
}

/** Sends one attempt. Rejects only for bugs of the gateway: upstream errors become a result. */
function send(
  { pools, timeouts }: AttemptDeps,
  { call, request, answer }: ActiveCall,
  step: PlanStep,
  run: AttemptRun,
): Promise<AttemptEnd> | AttemptEnd {
  const { attempt } = step;
  if (attempt.target.provider === builtInProvider) {
    const made = request.builtIn?.(attempt) ?? noBuiltIn;
    return "kind" in made ? { kind: "problem", problem: made, hasContent: false } : readReply(made, run);
  }
  let upstream: UpstreamRequest;
  try {
    upstream = request.call(attempt);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { kind: "problem", problem: unsent(error), hasContent: false };
  }
  answer.adjusted = upstream.adjusted ?? [];
  const times = timesOf(timeouts, timeouts.totalMs - call.elapsedMs(), step, request.isStream);
  return sendToUpstream(upstream, run, { pools, times, isOperatorHost: attempt.isOperatorHost });
}

const noBuiltIn: UpstreamProblem = { kind: "request", status: 400, message: "This model serves chat only." };

/** The problem of a request that this upstream cannot serve. It was not sent. */
function unsent({ message, errors = {} }: ServiceError): UpstreamProblem {
  const [param] = Object.keys(errors);
  return { kind: "request", status: 400, message, ...(param && { param }), isUnsent: true };
}

/** Reads one response on its way to the caller. @param onStart called at its first content */
function newRun({ call, request, record, answer }: ActiveCall, how: ReaderOptions, onStart: () => void): AttemptRun {
  const { stream } = answer;
  const { ledger } = record;
  stream.reset();
  answer.passed = undefined;
  answer.adjusted = [];
  const reader = (answer.reader = request.reader(how));
  let isStarted = false;
  return {
    reader,
    isStream: request.isStream,
    mustStream: () => stream.isOpen,
    signal: call.signal,
    onAnswer: (headers) => void (answer.passed = request.passes?.(headers)),
    attach: (exchange) => void (stream.source = exchange),
    onEvents(events, hasContent) {
      if (!hasContent) return stream.buffer(events);
      if (!isStarted) {
        isStarted = true;
        ledger.firstTokenMs ??= call.elapsedMs();
        onStart();
      }
      return stream.write(events);
    },
  };
}
