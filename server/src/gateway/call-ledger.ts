import type { PriceBook } from "../pricing/price-book.ts";
import { newIdentity, spanIdentity } from "../ingest/identity.ts";
import type { SpanOrigin } from "../ingest/normalize.ts";
import { readUsageObject } from "../pricing/usage-object.ts";
import { isObject } from "../lib/json.ts";
import type { AttemptNote } from "./attempt-notes.ts";
import type { ChatDigest } from "./chat-digest.ts";
import { usageOf, usageWithTier } from "./providers/openai/usage.ts";
import type { Recorder } from "./recorder.ts";
import { answerChars, promptChars } from "./prompt-size.ts";
import type { Plan } from "./routing/plan.ts";
import { completedUsage, costOf, estimateUsage } from "./usage-report.ts";
import type { ServiceParams } from "./service-params.ts";

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
  /** It ended before its answer was whole: what had been begun by then may have cost something. */
  isCut: boolean;
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
): CallLedger {
  return {
    origin,
    claim: (identity) => recorder.claim(identity),
    isRepeated: false,
    identity: newIdentity(),
    logType: "chat",
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

/** Takes over what a stream said, so far. */
export function takeDigest(ledger: CallLedger, digest: ChatDigest | undefined): void {
  if (digest === undefined) return;
  ledger.messages = digest.messages();
  ledger.responseId = digest.id();
  ledger.usage = readable(digest.usage());
  if (digest.isCut()) ledger.warnings.push("the completion was too long to be kept whole");
  if (ledger.usage === undefined && ledger.messages.length > 0) {
    estimateMissing(ledger, digest.isCut() ? digest.chars() : answerChars(ledger.messages), digest.usageSoFar());
  }
}

/** Takes over a whole reply. */
export function takeReply(ledger: CallLedger, completion: Record<string, unknown>): void {
  ledger.messages = messagesOf(completion);
  if (typeof completion["id"] === "string") ledger.responseId = completion["id"];
  const usage = usageOf(completion);
  ledger.usage = readable(usage && usageWithTier(usage, completion));
  if (ledger.usage === undefined) estimateMissing(ledger, answerChars(ledger.messages));
}

/** Undefined for a usage that cannot be billed: no counts, negative counts, or a side that is no count. Record and budget then use the same estimate. */
export function readable(usage: Record<string, unknown> | undefined): Record<string, unknown> | undefined {
  const read = usage && readUsageObject(usage);
  return read === undefined || read.isUnread === true ? undefined : usage;
}

/**
 * What was read of a relayed answer, in the same way.
 * @param known what it said of the usage before it broke
 */
export function estimateUnread(ledger: CallLedger, known?: Record<string, unknown>): void {
  if (untokened.has(ledger.logType) || readable(ledger.usage) !== undefined) return;
  estimateMissing(ledger, ledger.logType === "embedding" ? 0 : answerChars(ledger.messages), known);
}

/** What is paid by time, or not at all. */
const untokened: ReadonlySet<CallLedger["logType"]> = new Set(["transcription", "custom"]);

/**
 * The upstream stated no usage, but some there was.
 * @param known what it said of the usage before the answer broke
 */
export function estimateMissing(ledger: CallLedger, completionChars: number, known?: Record<string, unknown>): void {
  ledger.usage = completedUsage(readable(known), estimateUsage(promptChars(ledger.asked), completionChars));
  ledger.isUsageEstimated = true;
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

/** By tokens or by the time of a recording. */
function costOfAnswer(ledger: CallLedger, prices: PriceBook): number | null {
  const { origin, model, provider, startedAtMs: atMs } = ledger;
  if (ledger.logType === "custom") return 0;
  return costOf(prices, { organizationId: origin.organization_id, model, provider, usage: billedUsage(ledger), atMs });
}

/** What the call is paid by: tokens, or the time of a recording where none were counted. */
export function billedUsage({ usage, audioSeconds }: CallLedger): Record<string, unknown> | undefined {
  return usage ?? (audioSeconds === undefined ? undefined : { type: "duration", seconds: audioSeconds });
}

function messagesOf(completion: Record<string, unknown>): Array<Record<string, unknown>> {
  const { choices } = completion;
  if (!Array.isArray(choices)) return [];
  const answers = (choices as unknown[]).filter(isObject);
  const isNumbered = answers.length > 1 && answers.every(({ index }) => typeof index === "number");
  if (isNumbered) answers.sort((a, b) => Number(a["index"]) - Number(b["index"]));
  return answers.map(({ message }) => message).filter(isObject);
}
