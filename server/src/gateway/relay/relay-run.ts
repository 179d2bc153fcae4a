import type { OutgoingHttpHeaders } from "node:http";
import { admitCall, refusalOf } from "../admit-call.ts";
import { timesOf } from "../attempt-times.ts";
import { noteAttempt } from "../attempt-notes.ts";
import { answerHeaders } from "../answer-headers.ts";
import { breakdownOf } from "../breakdown.ts";
import type { Admission } from "../budgets.ts";
import {
  billedUsage,
  costOfCall,
  estimateUnread,
  newLedger,
  takeDigest,
  takePlan,
  type CallLedger,
} from "../call-ledger.ts";
import { spanOfCall } from "../span-of-call.ts";
import { beginAttempt, takeFailed } from "../failed-attempt.ts";
import {
  answerError,
  answerWhole,
  ClientStream,
  openaiErrors,
  type CallError,
  type ErrorForm,
} from "../client-answer.ts";
import { estimateCost } from "../estimate/estimators.ts";
import { BadReply, type UpstreamProblem } from "../providers/provider.ts";
import { understandProblem } from "../providers/shared/understand-problem.ts";
import type { Plan, PlanStep } from "../routing/plan.ts";
import { builtInProvider } from "../routing/provider-table.ts";
import type { KeyBinding, RelayAsk, RelayCall, RelayDeps, RelayOperation, RelayStream } from "./relay.ts";
import { StreamSink } from "./stream-sink.ts";
import { exchangeWhole, WholeSink, type WholeEnd, type WholeReply } from "./whole-exchange.ts";
import { takeCut } from "../take-cut.ts";
import { seeThrough } from "../see-through.ts";

/** One call from its first byte to its span. */
export class RelayRun {
  readonly #deps: RelayDeps;
  readonly #operation: RelayOperation;
  readonly #call: RelayCall;
  readonly #ledger: CallLedger;
  readonly #errors: ErrorForm;
  readonly #stream: ClientStream;
  #ask: RelayAsk | undefined;
  /** The stream that is being read. */
  #reading: RelayStream | undefined;
  /** Of the upstream that answers. */
  #passed: OutgoingHttpHeaders = {};
  #admission: Admission | undefined;
  #isOnRecord = false;
  #costUsd: number | null = 0;
  /** Time spent on upstreams so far, in milliseconds; the rest is ours. */
  #upstreamMs = 0;

  constructor(deps: RelayDeps, operation: RelayOperation, call: RelayCall) {
    this.#deps = deps;
    this.#operation = operation;
    this.#call = call;
    this.#ledger = { ...newLedger(call, deps.recorder), logType: operation.logType };
    this.#errors = operation.errors?.(call.requestId) ?? openaiErrors;
    this.#stream = new ClientStream(call.response, {
      errors: this.#errors,
      head: () => this.#headers(),
      beforeEnd: (sendEnd) => this.#record(sendEnd),
    });
  }

  run(): Promise<void> {
    return seeThrough({
      ledger: this.#ledger,
      signal: this.#call.signal,
      proceed: () => this.#proceed(),
      refuse: (error) => this.#refuse(error),
      cut: () => this.#cut(),
      finish: () => {
        this.#stream.release();
        return this.#finish();
      },
    });
  }

  /** The error to answer with. */
  async #proceed(): Promise<CallError | undefined> {
    const { origin, signal } = this.#call;
    const ledger = this.#ledger;
    const ask = await this.#operation.read(this.#call, ledger);
    this.#ask = ask;
    ledger.asked = ask.asked;
    if (ask.stream !== undefined) this.#stream.keepAlive(this.#deps.commentMs);
    const plan = await this.#deps.router.plan(
      {
        organizationId: origin.organization_id,
        environment: origin.environment,
        model: ask.model,
        params: ask.params,
        routeProvider: ask.routeProvider,
        betas: ask.betas,
        operation: this.#operation.operation,
        bond: ask.bond,
      },
      signal,
    );
    takePlan(ledger, plan);
    const { operation } = this.#operation;
    const atMs = this.#call.startedAtMs;
    const estimate = () =>
      estimateCost(this.#deps.prices, { organizationId: origin.organization_id, operation, request: ask, plan, atMs });
    this.#admission = await admitCall(this.#deps.budgets, origin, ask.params, estimate);
    ledger.limitInfo = this.#admission.limitInfo;
    return refusalOf(this.#admission) ?? this.#walk(ask, plan);
  }

  /** Goes through the plan until an upstream answers. */
  async #walk(ask: RelayAsk, plan: Plan): Promise<CallError | undefined> {
    let problem: UpstreamProblem | undefined;
    for (;;) {
      const step = await plan.next(problem);
      if (step === undefined) return this.#errors.ofProblem(plan.problem());
      this.#upstreamMs += step.waitedMs;
      const beganMs = this.#call.elapsedMs();
      const end = await this.#attempt(ask, step, plan);
      const note = (outcome: Parameters<typeof noteAttempt>[2], costUsd?: number): void =>
        noteAttempt(this.#ledger.attemptNotes, step.attempt, outcome, this.#call.elapsedMs() - beganMs, costUsd);
      if (end.kind === "gone") {
        note("cut");
        this.#deps.metrics.attempts.add({ outcome: "gone" });
        plan.report(step.attempt, "aborted");
        this.#cut();
        return undefined;
      }
      if (end.kind === "streamed") {
        note("success");
        this.#deps.metrics.attempts.add({ outcome: "success" });
        plan.report(step.attempt, "success");
        this.#endStream(ask);
        return undefined;
      }
      const said = end.kind === "problem" ? end.problem : this.#read(ask, end.reply, step);
      problem = said && understandProblem(said, step.attempt.target.credential);
      const digest = this.#reading?.digest;
      note(problem ?? "success", problem && takeFailed(this.#ledger, problem, this.#deps.prices, digest));
      this.#deps.metrics.attempts.add({ outcome: problem?.kind ?? "success" });
      if (
        problem !== undefined &&
        (end.kind === "reply" ? false : end.hasContent === true || this.#stream.isCommitted)
      ) {
        plan.report(step.attempt, problem);
        this.#breakOff(problem);
        return undefined;
      }
      if (problem !== undefined && this.#leftMs() <= 0) return this.#errors.ofProblem(plan.problem(problem));
      if (end.kind !== "reply" || problem !== undefined) continue;
      plan.report(step.attempt, "success");
      this.#answer(ask, this.#bindingOf(ask, step, plan)?.reply(end.reply) ?? end.reply);
      return undefined;
    }
  }

  /** Of the time that a call may take, over all its attempts. */
  #leftMs(): number {
    return this.#deps.timeouts.totalMs - this.#call.elapsedMs();
  }

  async #attempt(ask: RelayAsk, step: PlanStep, plan: Plan): Promise<WholeEnd> {
    const ledger = this.#ledger;
    const { attempt } = step;
    beginAttempt(ledger, attempt.target, this.#deps.prices);
    ledger.routedMs ??= this.#call.elapsedMs();
    if (attempt.target.provider === builtInProvider) {
      return { kind: "problem", problem: { kind: "request", status: 400, message: "This model answers chats alone." } };
    }
    const beganMs = this.#call.elapsedMs();
    const { isOperatorHost } = attempt;
    const { pools, timeouts } = this.#deps;
    const deps = { pools, timeouts: timesOf(timeouts, this.#leftMs(), step, ask.stream !== undefined) };
    const how = { isOperatorHost, signal: this.#call.signal };
    const answered = exchangeWhole(deps, ask.call(attempt), how, this.#sinkOf(ask, step, plan));
    this.#describe();
    const end = await answered;
    this.#upstreamMs += this.#call.elapsedMs() - beganMs;
    return end;
  }

  /** What of the record the request determines, once. */
  #describe(): void {
    const { recorded } = this.#ask ?? {};
    if (recorded === undefined) return;
    this.#ledger.asked = recorded();
    this.#ask = undefined;
  }

  /** What reads the answer: a stream, where one is wanted. */
  #sinkOf(ask: RelayAsk, step: PlanStep, plan: Plan): (end: (how: WholeEnd) => void) => WholeSink {
    this.#reading = undefined;
    this.#passed = {};
    const { stream } = ask;
    const read = ask.readProblem;
    if (stream === undefined) return (end) => new WholeSink(end, read);
    this.#stream.reset();
    const reading = (this.#reading = stream(this.#ledger, this.#mayAskOther(step)));
    let isBegun = false;
    return (end) =>
      new StreamSink(end, reading, {
        readProblem: read,
        onStream: (headers) => void (this.#passed = ask.passes?.(headers) ?? {}),
        attach: (exchange) => void (this.#stream.source = exchange),
        rewrite: this.#bindingOf(ask, step, plan)?.event,
        onEvents: (bytes, hasContent) => {
          if (!hasContent) return this.#stream.hold(bytes);
          this.#ledger.firstTokenMs ??= this.#call.elapsedMs();
          if (!isBegun) plan.report(step.attempt, "begun");
          isBegun = true;
          return this.#stream.write(bytes);
        },
      });
  }

  #mayAskOther({ furtherModels }: PlanStep): () => boolean {
    return () => furtherModels > 0 && !this.#stream.isCommitted;
  }

  #bindingOf({ bind }: RelayAsk, { attempt }: PlanStep, { hasManyKeys }: Plan): KeyBinding | undefined {
    return hasManyKeys ? bind?.(attempt.bond) : undefined;
  }

  #read(ask: RelayAsk, reply: WholeReply, step: PlanStep): UpstreamProblem | undefined {
    try {
      return ask.read(reply, this.#ledger, this.#mayAskOther(step));
    } catch (error) {
      if (!(error instanceof BadReply)) throw error;
      return { kind: "fault", status: 200, message: error.message, code: "bad_reply" };
    }
  }

  #answer(ask: RelayAsk, reply: WholeReply): void {
    this.#reading = undefined;
    const { events, mayAnswerWhole = false } = ask;
    if (events !== undefined && (this.#stream.isOpen || !mayAnswerWhole)) {
      this.#passed = ask.passes?.(reply.headers) ?? {};
      this.#stream.write(events(reply));
      return this.#endStream(ask);
    }
    const { body, headers } = ask.answer(reply, ask.params.request_breakdown === true ? this.#breakdown() : undefined);
    this.#passed = ask.passes?.(reply.headers) ?? {};
    return answerWhole(this.#call.response, 200, body, { ...this.#headers(), ...headers }, (sendEnd) =>
      this.#record(sendEnd),
    );
  }

  #endStream(ask: RelayAsk): void {
    takeDigest(this.#ledger, this.#reading?.digest);
    if (ask.params.request_breakdown === true) {
      this.#stream.writeJson({ type: "request_breakdown", request_breakdown: this.#breakdown() });
    }
    this.#stream.close();
  }

  /** A stream that fails after its first content. */
  #breakOff(problem: UpstreamProblem): void {
    const error = this.#errors.ofBreak(problem);
    if (this.#reading?.digest !== undefined && problem.usage === undefined)
      takeDigest(this.#ledger, this.#reading.digest);
    this.#ledger.isCut = true;
    this.#ledger.statusCode = error.status;
    this.#ledger.errorMessage = error.message;
    this.#stream.fail(error);
  }

  #breakdown(): Record<string, unknown> {
    const costUsd = costOfCall(this.#ledger, this.#deps.prices);
    return breakdownOf(this.#ledger, { costUsd, elapsedMs: this.#call.elapsedMs(), isCached: false });
  }

  #refuse(refused: CallError): void {
    const error = this.#errors.told(refused);
    this.#ledger.statusCode = error.status;
    this.#ledger.errorMessage = error.message;
    this.#tell(error);
  }

  #tell(error: CallError): void {
    if (this.#stream.isOpen) return this.#stream.fail(error);
    if (!this.#call.response.destroyed)
      answerError(this.#call.response, error, this.#headers(), (sendEnd) => this.#record(sendEnd), this.#errors);
  }

  #headers(): ReturnType<typeof answerHeaders> {
    const ours = answerHeaders(this.#ledger, { overheadMs: this.#call.elapsedMs() - this.#upstreamMs });
    return { ...this.#passed, ...ours };
  }

  #cut(): void {
    takeDigest(this.#ledger, this.#reading?.digest);
    const told = takeCut(this.#ledger, this.#call.signal);
    if (told !== undefined) this.#tell(this.#errors.told(told));
  }

  /** Once, when it is known how the call ends, and before its caller knows: `onRecorded` is called when it may. */
  #record(onRecorded: () => void): void {
    const ledger = this.#ledger;
    if (this.#isOnRecord) return onRecorded();
    this.#isOnRecord = true;
    ledger.endedMs = this.#call.elapsedMs();
    this.#describe();
    // What an upstream had begun is paid for, also when the caller did not wait for it.
    const isBegun = ledger.statusCode === 200 || (ledger.isCut && ledger.attempts > 0);
    if (isBegun) estimateUnread(ledger, this.#reading?.digest?.usageSoFar());
    const isPaid = isBegun || ledger.usage !== undefined;
    this.#costUsd = isPaid ? costOfCall(ledger, this.#deps.prices) : ledger.failedUsd;
    if (!ledger.hasPlan) ledger.model = this.#deps.router.modelName(ledger.model);
    const body = spanOfCall(ledger);
    if (isPaid) body["usage"] = billedUsage(ledger);
    // The intake makes the cost of the usage; it does not know that of other attempts.
    if (ledger.failedUsd > 0 && this.#costUsd !== null) body["cost"] = this.#costUsd;
    const record = { body: () => body, origin: ledger.origin, identity: ledger.identity };
    return this.#deps.recorder.add(record, () => this.#close(onRecorded));
  }

  /** Settled last: what was charged has its record. */
  #close(onRecorded: () => void): void {
    try {
      onRecorded();
    } finally {
      if (this.#admission?.isAllowed === true) this.#admission.settle(() => this.#costUsd);
    }
  }

  #finish(): Promise<void> | undefined {
    return this.#isOnRecord ? undefined : new Promise((resolve) => this.#record(resolve));
  }
}
