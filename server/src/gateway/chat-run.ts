import { formatUuid } from "../ingest/identity.ts";
import { admitCall, hearCustomer, refusalOf } from "./admit-call.ts";
import { noteAttempt } from "./attempt-notes.ts";
import { timesOf } from "./attempt-times.ts";
import { runAttempt, type AttemptEnd, type AttemptRun } from "./attempt.ts";
import type { Admission } from "./budgets.ts";
import type { CallCache, RecalledAnswer } from "./cache/answer-cache.ts";
import {
  costOfCall,
  estimateMissing,
  isRecorded,
  newLedger,
  takeDigest,
  takeParams,
  takePlan,
  type CallLedger,
} from "./call-ledger.ts";
import { ChatAnswer, tokenBreakdown } from "./chat-answer.ts";
import { createChatDigest, type ChatDigest } from "./chat-digest.ts";
import type { ChatCall, ChatDeps } from "./chat.ts";
import { takeCut } from "./take-cut.ts";
import { errorOfProblem, type CallError } from "./client-answer.ts";
import { beginAttempt, takeFailed } from "./failed-attempt.ts";
import { runEcho } from "./echo-attempt.ts";
import { estimateCost } from "./estimate/estimators.ts";
import type { UpstreamProblem } from "./providers/provider.ts";
import { readChatAsk, readMembers, withoutServiceParams, type ChatAsk } from "./read-chat-request.ts";
import type { Plan, PlanStep } from "./routing/plan.ts";
import { builtInProvider } from "./routing/provider-table.ts";
import { readServiceParams } from "./service-params.ts";
import { streamCompletion } from "./stream-source.ts";
import { detailedUsage } from "./usage-report.ts";
import type { SpanRecord } from "./prepare-record.ts";
import { completeDraft, draftRecord, type RecordDraft } from "./record-draft.ts";
import { seeThrough } from "./see-through.ts";
import { spanOfCall } from "./span-of-call.ts";

/** One call from its first byte to its span. */
export class ChatRun {
  readonly #deps: ChatDeps;
  readonly #call: ChatCall;
  readonly #ledger: CallLedger;
  readonly #answer: ChatAnswer;
  #admission: Admission | undefined;
  #cache: CallCache | undefined;
  #isOnRecord = false;
  #draft: RecordDraft | undefined;

  constructor(deps: ChatDeps, call: ChatCall) {
    this.#deps = deps;
    this.#call = call;
    this.#ledger = newLedger(call, deps.recorder);
    this.#answer = new ChatAnswer(call, this.#ledger, deps.prices, (sendEnd) => this.#record(sendEnd));
  }

  run(): Promise<void> {
    return seeThrough({
      ledger: this.#ledger,
      signal: this.#call.signal,
      proceed: () => this.#proceed(),
      refuse: (error) => this.#answer.refuse(error),
      cut: () => this.#cut(),
      finish: () => {
        this.#answer.stream.release();
        return this.#finish();
      },
    });
  }

  /** The error to answer with, where nothing was sent yet. */
  async #proceed(): Promise<CallError | undefined> {
    const ask = this.#read();
    const { signal, origin } = this.#call;
    if (ask.isStream) this.#answer.stream.keepAlive(this.#deps.commentMs);
    const routed = this.#deps.router.plan(
      {
        organizationId: origin.organization_id,
        environment: origin.environment,
        model: ask.model,
        params: ask.params,
        routeProvider: ask.routeProvider,
        betas: ask.betas,
        operation: "chat",
      },
      signal,
    );
    const plan = routed instanceof Promise ? await routed : routed;
    takePlan(this.#ledger, plan);
    const cache = (this.#cache = this.#deps.cache.begin({ origin, ask, operation: "chat" }, plan.first));
    if (cache !== undefined) {
      const recalled = await cache.find();
      signal.throwIfAborted();
      if (recalled !== undefined) {
        await hearCustomer(this.#deps.budgets, origin, ask.params);
        this.#replay(ask, recalled);
        return undefined;
      }
    }
    const admitted = this.#admit(ask, plan);
    const admission = (this.#admission = admitted instanceof Promise ? await admitted : admitted);
    this.#ledger.limitInfo = admission.limitInfo;
    return refusalOf(admission) ?? this.#walk(ask, plan);
  }

  #read(): ChatAsk {
    const { bytes, headers } = this.#call;
    const ledger = this.#ledger;
    const members = readMembers(bytes);
    const forProvider = withoutServiceParams(members);
    ledger.asked = forProvider;
    ledger.stream = members["stream"] === true;
    if (typeof members["model"] === "string") ledger.model = members["model"];
    const params = readServiceParams(members, this.#call);
    takeParams(ledger, params);
    // Where the answer may be kept, what is asked is what its key was made of, not bytes that others might read otherwise.
    const asked = params.cache_enabled === true ? { ...forProvider } : forProvider;
    return readChatAsk({ bytes, members, forProvider: asked }, params, headers);
  }

  /** Costs nothing, and so takes nothing of a budget. */
  #replay(ask: ChatAsk, { key, completion, body, provider, model, adjusted }: RecalledAnswer): void {
    const ledger = this.#ledger;
    Object.assign(ledger, {
      isCached: true,
      cacheKey: key,
      provider,
      model,
      limitInfo: { is_allowed: true, limits: [] },
    });
    ledger.routedMs = this.#call.elapsedMs();
    this.#answer.adjusted = adjusted;
    if (!ask.isStream) return this.#answer.sendReply(ask, { kind: "reply", bytes: body, completion });
    ledger.firstTokenMs = ledger.routedMs;
    const { stream } = this.#answer;
    streamCompletion(completion, {
      digest: this.#newDigest(),
      sink: {
        onEvents: (events, hasContent) => (hasContent ? stream.write(events) : stream.hold(events)),
        onDone: () => this.#answer.sendEnd(ask),
        onProblem: () => undefined,
      },
      wantsUsage: ask.wantsUsage,
      mapUsage: mapUsageOf(ask),
    });
    return undefined;
  }

  #newDigest(): ChatDigest {
    const digest = createChatDigest();
    return (this.#answer.digest = this.#ledger.isCached ? digest : (this.#cache?.watch(digest) ?? digest));
  }

  #admit(ask: ChatAsk, plan: Plan): Admission | Promise<Admission> {
    const request = { asked: ask.body.forProvider };
    const organizationId = this.#call.origin.organization_id;
    const atMs = this.#call.startedAtMs;
    const estimate = () => estimateCost(this.#deps.prices, { organizationId, operation: "chat", request, plan, atMs });
    return admitCall(this.#deps.budgets, this.#call.origin, ask.params, estimate);
  }

  /** Goes through the plan until an upstream answers. */
  async #walk(ask: ChatAsk, plan: Plan): Promise<CallError | undefined> {
    let problem: UpstreamProblem | undefined;
    for (;;) {
      const next = plan.next(problem);
      const step = next instanceof Promise ? await next : next;
      if (step === undefined) return errorOfProblem(plan.problem());
      this.#answer.upstreamMs += step.waitedMs;
      const end = await this.#attempt(ask, step, plan);
      this.#deps.metrics.attempts.add({ outcome: outcomeOf(end) });
      if (end.kind === "reply") {
        plan.report(step.attempt, "success");
        this.#answer.sendReply(ask, end);
        this.#cache?.keep(step.attempt, end, this.#answer.adjusted);
        return undefined;
      }
      if (end.kind === "streamed") {
        plan.report(step.attempt, "success");
        this.#answer.sendEnd(ask);
        this.#cache?.keep(step.attempt, undefined, this.#answer.adjusted);
        return undefined;
      }
      if (end.kind === "gone") {
        plan.report(step.attempt, "aborted");
        this.#cut();
        return undefined;
      }
      if (end.hasContent || this.#answer.stream.isCommitted) {
        plan.report(step.attempt, end.problem);
        this.#answer.breakOff(errorOfProblem(end.problem), end.problem.usage);
        return undefined;
      }
      if (this.#leftMs() <= 0) return errorOfProblem(plan.problem(end.problem));
      problem = end.problem;
    }
  }

  /** Of the time that a call may take, over all its attempts. */
  #leftMs(): number {
    return this.#deps.timeouts.totalMs - this.#call.elapsedMs();
  }

  async #attempt(ask: ChatAsk, step: PlanStep, plan: Plan): Promise<AttemptEnd> {
    const ledger = this.#ledger;
    const { attempt } = step;
    const { target, quirks, translator } = attempt;
    beginAttempt(ledger, target, this.#deps.prices);
    ledger.cacheKey = this.#cache?.keyOf(attempt);
    ledger.routedMs ??= this.#call.elapsedMs();
    const { usageRefusals } = this.#deps;
    const isAskedFor = ask.isStream && translator === undefined && quirks.streamUsage === "asked";
    const asksUsage = isAskedFor && usageRefusals.get(target.baseUrl) === undefined;
    const end = await this.#once(ask, step, plan, asksUsage);
    if (asksUsage && end.kind === "problem" && !end.hasContent && isAboutStreamOptions(end.problem)) {
      // It does not know the question: asked without, it will answer.
      usageRefusals.set(target.baseUrl, true);
      ledger.attempts += 1;
      return this.#once(ask, step, plan, false);
    }
    return end;
  }

  async #once(ask: ChatAsk, step: PlanStep, plan: Plan, asksUsage: boolean): Promise<AttemptEnd> {
    const { attempt } = step;
    this.#answer.stream.reset();
    this.#answer.digest = undefined;
    const { signal, startedAtMs } = this.#call;
    const beganMs = this.#call.elapsedMs();
    let isReported = false;
    const run: AttemptRun = {
      ask,
      attempt,
      asksUsage,
      mayAskOther: () => step.furtherModels > 0 && !this.#answer.stream.isCommitted,
      signal,
      times: timesOf(this.#deps.timeouts, this.#leftMs(), step, ask.isStream),
      facts: () => ({
        model: attempt.model,
        id: `chatcmpl-${formatUuid(this.#ledger.identity)}`,
        created: Math.floor(startedAtMs / 1000),
      }),
      mapUsage: mapUsageOf(ask),
      attach: (exchange) => void (this.#answer.stream.source = exchange),
      newDigest: () => this.#newDigest(),
      onAdjusted: (params) => void (this.#answer.adjusted = params),
      onEvents: (events, hasContent) => {
        if (!hasContent) return this.#answer.stream.hold(events);
        if (!isReported) {
          isReported = true;
          const nowMs = this.#call.elapsedMs();
          this.#ledger.firstTokenMs ??= nowMs;
          this.#answer.upstreamMs += nowMs - beganMs;
          plan.report(attempt, "begun");
        }
        return this.#answer.stream.write(events);
      },
    };
    const end = attempt.target.provider === builtInProvider ? runEcho(run) : await this.#ask(run);
    const tookMs = this.#call.elapsedMs() - beganMs;
    if (!isReported) this.#answer.upstreamMs += tookMs;
    const outcome = end.kind === "problem" ? end.problem : end.kind === "gone" ? "cut" : "success";
    const failedUsd =
      end.kind === "problem" && !end.hasContent
        ? takeFailed(this.#ledger, end.problem, this.#deps.prices, this.#answer.digest)
        : undefined;
    noteAttempt(this.#ledger.attemptNotes, attempt, outcome, tookMs, failedUsd);
    return end;
  }

  #ask(run: AttemptRun): Promise<AttemptEnd> {
    const end = runAttempt(this.#deps, run);
    this.#deps.drafting.add(this);
    return end;
  }

  #cut(): void {
    const ledger = this.#ledger;
    takeDigest(ledger, this.#answer.digest);
    const told = takeCut(ledger, this.#call.signal);
    // What the upstream had begun is paid for.
    if (ledger.attempts > 0 && ledger.usage === undefined) estimateMissing(ledger, 0);
    if (told !== undefined) this.#answer.stop(told);
  }

  /** Once, when it is known how the call ends, and before its caller knows: `onRecorded` is called when it may. */
  #record(onRecorded: () => void): void {
    const ledger = this.#ledger;
    if (this.#isOnRecord) return onRecorded();
    this.#isOnRecord = true;
    ledger.endedMs = this.#call.elapsedMs();
    if (!isRecorded(ledger)) return this.#close(onRecorded);
    if (!ledger.hasPlan) ledger.model = this.#deps.router.modelName(ledger.model);
    const { origin, identity, failedUsd } = ledger;
    const costUsd = failedUsd > 0 ? costOfCall(ledger, this.#deps.prices) : undefined;
    const record: SpanRecord = {
      read: failedUsd > 0 ? undefined : this.#draft && completeDraft(this.#draft, ledger),
      body: () => ({ ...spanOfCall(ledger), ...(costUsd !== undefined && { cost: costUsd }) }),
      origin,
      identity,
    };
    return this.#deps.recorder.add(record, () => this.#close(onRecorded));
  }

  /** Does what can be done of the record before the upstream answers. */
  draftRecord(): void {
    if (!this.#isOnRecord) this.#draft ??= draftRecord(this.#ledger, this.#call.bytes.length);
  }

  /** Settled last: what was charged has its record. */
  #close(onRecorded: () => void): void {
    const ledger = this.#ledger;
    try {
      onRecorded();
    } finally {
      if (this.#admission?.isAllowed === true)
        this.#admission.settle(() =>
          ledger.usage === undefined ? ledger.failedUsd : costOfCall(ledger, this.#deps.prices),
        );
    }
  }

  #finish(): Promise<void> | undefined {
    return this.#isOnRecord ? undefined : new Promise((resolve) => this.#record(resolve));
  }
}

function mapUsageOf(ask: ChatAsk): AttemptRun["mapUsage"] {
  return ask.betas.has(tokenBreakdown) ? detailedUsage : undefined;
}

function outcomeOf(end: AttemptEnd): string {
  if (end.kind === "problem") return end.problem.kind;
  return end.kind === "gone" ? "gone" : "success";
}

function isAboutStreamOptions({ kind, message, param }: UpstreamProblem): boolean {
  return kind === "request" && /stream_options|include_usage/.test(`${param ?? ""} ${message}`);
}
