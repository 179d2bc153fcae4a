import type { PriceBook } from "../../pricing/price-book.ts";
import { builtInProvider } from "../routing/provider-table.ts";
import { newIdentity, spanIdentity } from "../../domain/identity.ts";
import type { SpanOrigin } from "../../ingest/normalize/normalize.ts";
import { readUsageObject } from "../../pricing/usage-object.ts";
import { isObject } from "../../lib/json.ts";
import type { AttemptNote } from "./attempt.ts";
import type { ChatDigest } from "../chat/chat-digest.ts";
import { usageOf, usageWithTier } from "../providers/openai/read-reply.ts";
import type { Target, UpstreamProblem } from "../providers/provider.ts";
import type { Recorder } from "../record/recorder.ts";
import { answerChars, promptChars } from "../request/prompt-size.ts";
import type { Plan } from "../routing/plan.ts";
import { completedUsage, costOf, estimateUsage } from "../record/usage-report.ts";
import type { ServiceParams } from "../request/service-params.ts";

/**
 * The state of one call, filled in step by step. Its span is built from this, however the call ends. Times are
 * milliseconds since the call arrived, except `startedAtMs`, which is since the epoch.
 */
export type CallLedger = {
  origin: SpanOrigin;
  /** The recorder's `claim`: whether no other call has this identity. */
  claim: (identity: Buffer) => boolean;
  /** Another call used the ids that this call names: its span gets its own id and becomes a child of the named span. */
  isRepeated: boolean;
  /** The span's identity: the `unique_id` that the caller received. */
  identity: Buffer;
  /** `custom`: a count of tokens, which costs nothing. */
  logType: "chat" | "transcription" | "embedding" | "response" | "custom";
  startedAtMs: number;
  /** The members of the caller's body without service parameters. Empty if the body could not be read. */
  request: Record<string, unknown>;
  params: ServiceParams;
  /** The parameters could not be read: it is unknown whether content may be stored. */
  isUnread: boolean;
  stream: boolean;
  /**
   * The requested name until the call has a plan; then the upstream's name for the model that is, or would have been,
   * called.
   */
  model: string;
  hasPlan: boolean;
  provider: string;
  attempts: number;
  /** See `noteAttempt`: empty as long as no attempt failed. */
  attemptNotes: AttemptNote[];
  /** When the first attempt began. */
  routedMs: number | undefined;
  firstTokenMs: number | undefined;
  endedMs: number;
  statusCode: number;
  /** An upstream returned all or part of a response, which is billed by tokens or by time. */
  isAnswered: boolean;
  /** The message that the caller received. */
  errorMessage: string | undefined;
  /** The messages of the response, one per choice. */
  messages: Array<Record<string, unknown>>;
  /** Span fields for other content. */
  content: Record<string, unknown>;
  /** The duration of the transcribed recording. */
  audioSeconds: number | undefined;
  /** The provider's id of its response. */
  responseId: string | undefined;
  usage: Record<string, unknown> | undefined;
  isUsageEstimated: boolean;
  /** USD that failed attempts before the last one cost. */
  failedUsd: number;
  warnings: string[];
  limitInfo: Record<string, unknown> | undefined;
  /** The key of the cached answer, also on a miss; absent if the call did not request the cache. */
  cacheKey: string | undefined;
  /** The answer came from the cache. */
  isCached: boolean;
};

/** The ledger of a call that has just arrived. */
export function newLedger(
  { origin, startedAtMs }: Pick<CallLedger, "origin" | "startedAtMs">,
  recorder: Pick<Recorder, "claim">,
  logType: CallLedger["logType"],
): CallLedger {
  return {
    origin,
    claim: (identity) => recorder.claim(identity),
    isRepeated: false,
    identity: newIdentity(),
    logType,
    startedAtMs,
    request: {},
    params: {},
    isUnread: true,
    stream: false,
    model: "",
    hasPlan: false,
    provider: "",
    attempts: 0,
    attemptNotes: [],
    routedMs: undefined,
    firstTokenMs: undefined,
    endedMs: 0,
    statusCode: 200,
    isAnswered: false,
    errorMessage: undefined,
    messages: [],
    content: {},
    audioSeconds: undefined,
    responseId: undefined,
    usage: undefined,
    isUsageEstimated: false,
    failedUsd: 0,
    warnings: [],
    limitInfo: undefined,
    cacheKey: undefined,
    isCached: false,
  };
}

/** Stores the service parameters. From here on it is known whether content may be stored, and which span this is. */
export function applyParams(ledger: CallLedger, params: ServiceParams): void {
  ledger.params = params;
  ledger.isUnread = false;
  const { trace_unique_id: trace, span_unique_id: span } = params;
  if (trace === undefined || span === undefined) return;
  const { organization_id, environment } = ledger.origin;
  const identity = spanIdentity({ organization_id, environment, trace, span });
  ledger.isRepeated = !ledger.claim(identity);
  if (ledger.isRepeated) ledger.warnings.push(`another call was recorded as the span ${span}: this one is its child`);
  else ledger.identity = identity;
}

/**
 * Takes the model from the first attempt of the plan, so that refused calls are recorded under the same model name as
 * answered ones.
 */
export function applyPlan(ledger: CallLedger, { first }: Pick<Plan, "first">): void {
  ledger.hasPlan = true;
  ledger.model = first[0]?.target.model ?? ledger.model;
}

/**
 * Begins another attempt. A charged failed attempt adds only an amount in USD, because another model may have caused
 * it. The usage of the call is that of its last attempt.
 */
export function beginAttempt(ledger: CallLedger, { provider, model }: Target, prices: PriceBook): void {
  if (ledger.usage !== undefined) {
    ledger.failedUsd += costOfAnswer(ledger, prices) ?? 0;
    ledger.usage = undefined;
  }
  // Output of an earlier attempt is not part of the response.
  ledger.messages = [];
  ledger.responseId = undefined;
  ledger.attempts += 1;
  ledger.provider = provider;
  ledger.model = model;
}

/**
 * Stores the usage of a failed attempt of which the caller saw nothing: providers charge for a failed response that
 * they counted.
 */
export function recordFailure(ledger: CallLedger, problem: UpstreamProblem, digest?: ChatDigest): void {
  // A provider that reports a failure does not charge for interim counts. If the stream broke off, the last counts
  // stand.
  const isInterrupted = problem.isInterrupted === true || problem.status === 0;
  ledger.usage = readable(problem.usage ?? digest?.usage() ?? (isInterrupted ? digest?.usageSoFar() : undefined));
}

/** Takes a cached answer. It costs nothing, and so uses no budget. */
export function recordCached(
  ledger: CallLedger,
  { key, provider, model }: { key: string; provider: string; model: string },
  routedMs: number,
): void {
  const limitInfo = { is_allowed: true, limits: [] };
  Object.assign(ledger, { isCached: true, cacheKey: key, provider, model, limitInfo, routedMs });
}

/** Takes what a stream has sent so far. */
export function recordDigest(ledger: CallLedger, digest: ChatDigest | undefined): void {
  if (digest === undefined) return;
  ledger.messages = digest.messages();
  ledger.responseId = digest.id();
  ledger.usage = digest.usage();
  if (digest.isTruncated()) ledger.warnings.push("the completion was too long to be recorded completely");
}

/** Takes a complete reply. */
export function recordReply(ledger: CallLedger, completion: Record<string, unknown>): void {
  ledger.messages = messagesOf(completion);
  if (typeof completion["id"] === "string") ledger.responseId = completion["id"];
  const usage = usageOf(completion);
  ledger.usage = usage && usageWithTier(usage, completion);
}

/**
 * Determines the billed usage: the one that the upstream stated, or else an estimate from the text, merged with interim
 * counts.
 */
export function settleUsage(ledger: CallLedger, digest?: ChatDigest): void {
  ledger.isAnswered = true;
  if (untokened.has(ledger.logType)) return;
  ledger.usage = readable(ledger.usage);
  ledger.isUsageEstimated = ledger.usage === undefined;
  if (ledger.usage !== undefined) return;
  const completionChars = digest?.isTruncated() === true ? digest.chars() : answerChars(ledger.messages);
  const estimate = estimateUsage(promptChars(ledger.request), ledger.logType === "embedding" ? 0 : completionChars);
  ledger.usage = completedUsage(readable(digest?.usageSoFar()), estimate);
}

/** Billed by time, or not at all. */
const untokened: ReadonlySet<CallLedger["logType"]> = new Set(["transcription", "custom"]);

/**
 * Undefined for a usage that cannot be billed: no counts, negative counts, or a side that is not a count. Record and
 * budget then use the same estimate.
 */
function readable(usage: Record<string, unknown> | undefined): Record<string, unknown> | undefined {
  const read = usage && readUsageObject(usage);
  return read === undefined || read.isUnread === true ? undefined : usage;
}

/** Whether the call leaves a span: all do, except cache hits with `omit_log`. */
export function isRecorded({ isCached, params }: CallLedger): boolean {
  return !(isCached && params.cache_options?.omit_log === true);
}

/** USD for all attempts. Null if model or usage is unknown and no failed attempt is known to have cost something. */
export function costOfCall(ledger: CallLedger, prices: PriceBook): number | null {
  const costUsd = costOfAnswer(ledger, prices);
  return ledger.failedUsd === 0 ? costUsd : (costUsd ?? 0) + ledger.failedUsd;
}

/** USD for the last attempt only, by tokens or by the duration of a recording. */
export function costOfAnswer(ledger: CallLedger, prices: PriceBook): number | null {
  const { origin, model, provider, logType, startedAtMs: atMs } = ledger;
  if (logType === "custom" || provider === builtInProvider) return 0;
  return costOf(prices, { organizationId: origin.organization_id, model, provider, usage: billedUsage(ledger), atMs });
}

/** Whether the last attempt costs money: it answered, or it failed and the provider stated its usage. */
export function isPaid({ isAnswered, usage }: CallLedger): boolean {
  return isAnswered || usage !== undefined;
}

/** The billed usage of the last attempt: tokens, or the duration of a recording if no tokens were counted. */
export function billedUsage({ isAnswered, usage, audioSeconds }: CallLedger): Record<string, unknown> | undefined {
  if (usage !== undefined || !isAnswered || audioSeconds === undefined) return usage;
  return { type: "duration", seconds: audioSeconds };
}

function messagesOf(completion: Record<string, unknown>): Array<Record<string, unknown>> {
  const { choices } = completion;
  if (!Array.isArray(choices)) return [];
  const answers = (choices as unknown[]).filter(isObject);
  const isNumbered = answers.length > 1 && answers.every(({ index }) => typeof index === "number");
  if (isNumbered) answers.sort((a, b) => Number(a["index"]) - Number(b["index"]));
  return answers.map(({ message }) => message).filter(isObject);
}
