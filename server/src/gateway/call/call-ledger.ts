import type { PriceBook } from "../../pricing/price-book.ts";
import { newIdentity, spanIdentity } from "../../domain/identity.ts";
import type { SpanOrigin } from "../../ingest/normalize/normalize.ts";
import { readUsageObject } from "../../pricing/usage-object.ts";
import { isObject } from "../../lib/json.ts";
import type { AttemptNote } from "./attempt-notes.ts";
import type { ChatDigest } from "../chat/chat-digest.ts";
import { usageOf, usageWithTier } from "../providers/openai/usage.ts";
import type { Target, UpstreamProblem } from "../providers/provider.ts";
import type { Recorder } from "../record/recorder.ts";
import { answerChars, promptChars } from "../request/prompt-size.ts";
import type { Plan } from "../routing/plan.ts";
import { completedUsage, costOf, estimateUsage } from "../record/usage-report.ts";
import type { ServiceParams } from "../request/service-params.ts";

/**
 * What is known of one call, filled in as it goes on: its span is made of this, however the call ends. Times are
 * milliseconds since the call arrived, but for `startedAtMs`, which is since the epoch.
 */
export type CallLedger = {
  origin: SpanOrigin;
  /** Of the recorder: whether no other call has that identity. */
  claim: (identity: Buffer) => boolean;
  /** Another call had the ids that this one names: its span has an id of its own, below the one that was named. */
  isRepeated: boolean;
  /** The span's identity, and its `unique_id` as the caller was told it. */
  identity: Buffer;
  /** `custom`: a count of tokens, which costs nothing. */
  logType: "chat" | "transcription" | "embedding" | "response" | "custom";
  startedAtMs: number;
  /** The members of the caller's body without service parameters; empty where it could not be read. */
  asked: Record<string, unknown>;
  params: ServiceParams;
  /** The parameters could not be read: nobody knows whether content may be kept. */
  isUnread: boolean;
  stream: boolean;
  /** As it was asked for until the call has a plan, then as the upstream calls it that is asked, or would have been. */
  model: string;
  hasPlan: boolean;
  provider: string;
  attempts: number;
  /** See attempt-notes.ts: empty as long as none failed. */
  attemptNotes: AttemptNote[];
  /** When the first attempt began. */
  routedMs: number | undefined;
  firstTokenMs: number | undefined;
  endedMs: number;
  statusCode: number;
  /** It ended before its answer was whole. */
  isCut: boolean;
  /** An upstream gave an answer, or a part of one: it is paid for, by tokens or by time. */
  isAnswered: boolean;
  /** What the caller was told. */
  errorMessage: string | undefined;
  /** The answer's messages, one for each choice. */
  messages: Array<Record<string, unknown>>;
  /** Fields of the span that hold something else that was said. */
  content: Record<string, unknown>;
  /** How long the recording plays that is transcribed. */
  audioSeconds: number | undefined;
  /** The provider's id of its answer. */
  responseId: string | undefined;
  usage: Record<string, unknown> | undefined;
  isUsageEstimated: boolean;
  /** USD that attempts before the last one cost although they failed. */
  failedUsd: number;
  warnings: string[];
  limitInfo: Record<string, unknown> | undefined;
  /** Of the cached answer, whoever is given it; absent where the call did not ask for the cache. */
  cacheKey: string | undefined;
  /** The answer came from the cache. */
  isCached: boolean;
};

/** That of a call that has just arrived. */
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
    asked: {},
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
    isCut: false,
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

/** Takes over the service parameters: from here on it is known whether content may be kept, and who the span is. */
export function takeParams(ledger: CallLedger, params: ServiceParams): void {
  ledger.params = params;
  ledger.isUnread = false;
  const { trace_unique_id: trace, span_unique_id: span } = params;
  if (trace === undefined || span === undefined) return;
  const { organization_id, environment } = ledger.origin;
  const identity = spanIdentity({ organization_id, environment, trace, span });
  ledger.isRepeated = !ledger.claim(identity);
  if (ledger.isRepeated) ledger.warnings.push(`another call was recorded as the span ${span}: this one is below it`);
  else ledger.identity = identity;
}

/** Takes over whom the call would ask first: a call that is refused after all is told under the same name as one that is answered. */
export function takePlan(ledger: CallLedger, { first }: Pick<Plan, "first">): void {
  ledger.hasPlan = true;
  ledger.model = first[0]?.target.model ?? ledger.model;
}

/**
 * Another attempt begins. What is charged of a failed one is a sum of money alone, as another model may have made it; the usage of the
 * call is that of its last attempt.
 */
export function beginAttempt(ledger: CallLedger, { provider, model }: Target, prices: PriceBook): void {
  if (ledger.usage !== undefined) {
    ledger.failedUsd += costOfAnswer(ledger, prices) ?? 0;
    ledger.usage = undefined;
  }
  // What an earlier attempt said is not the answer.
  ledger.messages = [];
  ledger.responseId = undefined;
  ledger.attempts += 1;
  ledger.provider = provider;
  ledger.model = model;
}

/** Takes over what an attempt is paid for of which the caller saw nothing: providers charge for an answer that failed where they counted it. */
export function takeFailed(ledger: CallLedger, problem: UpstreamProblem, digest?: ChatDigest): void {
  // Whoever says that it failed has not charged for what it counted on the way; where it broke off, nobody took that back.
  const isCut = problem.isCut === true || problem.status === 0;
  ledger.usage = readable(problem.usage ?? digest?.usage() ?? (isCut ? digest?.usageSoFar() : undefined));
}

/** Takes over an answer that was given before. It costs nothing, and so takes nothing of a budget. */
export function takeRecalled(
  ledger: CallLedger,
  { key, provider, model }: { key: string; provider: string; model: string },
  routedMs: number,
): void {
  const limitInfo = { is_allowed: true, limits: [] };
  Object.assign(ledger, { isCached: true, cacheKey: key, provider, model, limitInfo, routedMs });
}

/** Takes over what a stream said, so far. */
export function takeDigest(ledger: CallLedger, digest: ChatDigest | undefined): void {
  if (digest === undefined) return;
  ledger.messages = digest.messages();
  ledger.responseId = digest.id();
  ledger.usage = digest.usage();
  if (digest.isCut()) ledger.warnings.push("the completion was too long to be kept whole");
}

/** Takes over a whole reply. */
export function takeReply(ledger: CallLedger, completion: Record<string, unknown>): void {
  ledger.messages = messagesOf(completion);
  if (typeof completion["id"] === "string") ledger.responseId = completion["id"];
  const usage = usageOf(completion);
  ledger.usage = usage && usageWithTier(usage, completion);
}

/** What an answer is paid by: the usage that was stated, or else an estimate by what was said, together with what was counted. */
export function settleUsage(ledger: CallLedger, digest?: ChatDigest): void {
  ledger.isAnswered = true;
  if (untokened.has(ledger.logType)) return;
  ledger.usage = readable(ledger.usage);
  ledger.isUsageEstimated = ledger.usage === undefined;
  if (ledger.usage !== undefined) return;
  const said = digest?.isCut() === true ? digest.chars() : answerChars(ledger.messages);
  const estimate = estimateUsage(promptChars(ledger.asked), ledger.logType === "embedding" ? 0 : said);
  ledger.usage = completedUsage(readable(digest?.usageSoFar()), estimate);
}

/** What is paid by time, or not at all. */
const untokened: ReadonlySet<CallLedger["logType"]> = new Set(["transcription", "custom"]);

/** Undefined for a usage that cannot be billed: no counts, negative counts, or a side that is no count. Record and budget then use the same estimate. */
function readable(usage: Record<string, unknown> | undefined): Record<string, unknown> | undefined {
  const read = usage && readUsageObject(usage);
  return read === undefined || read.isUnread === true ? undefined : usage;
}

/** Whether the call leaves a span: all do, but for answers from the cache that the caller wants to have left out. */
export function isRecorded({ isCached, params }: CallLedger): boolean {
  return !(isCached && params.cache_options?.omit_log === true);
}

/** In USD, of all its attempts; null where model or usage are unknown, and no failed attempt is known to have cost something. */
export function costOfCall(ledger: CallLedger, prices: PriceBook): number | null {
  const costUsd = costOfAnswer(ledger, prices);
  return ledger.failedUsd === 0 ? costUsd : (costUsd ?? 0) + ledger.failedUsd;
}

/** Of the last attempt alone, by tokens or by the time of a recording. */
export function costOfAnswer(ledger: CallLedger, prices: PriceBook): number | null {
  const { origin, model, provider, startedAtMs: atMs } = ledger;
  if (ledger.logType === "custom") return 0;
  return costOf(prices, { organizationId: origin.organization_id, model, provider, usage: billedUsage(ledger), atMs });
}

/** Whether the last attempt costs money: it answered, or it failed and the provider stated its usage. */
export function isPaid({ isAnswered, usage }: CallLedger): boolean {
  return isAnswered || usage !== undefined;
}

/** What the last attempt is paid by: tokens, or the time of a recording where none were counted. */
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
