import { domainLimits } from "../../domain/limits.ts";
import { httpLimits } from "../../http/limits.ts";
import { secondsOf, storedTime } from "../../lib/time.ts";
import type { PriceBook } from "../../pricing/price-book.ts";
import type { Admission } from "../call/admit-call.ts";
import { withoutMessages } from "../call/attempt.ts";
import {
  billedUsage,
  costOfCall,
  isPaid,
  isRecorded,
  newLedger,
  settleUsage,
  recordDigest,
  type CallLedger,
} from "../call/call-ledger.ts";
import type { CallOperation, CallRequest, GatewayCall } from "../call/operation.ts";
import type { ChatDigest } from "../chat/chat-digest.ts";
import type { ServiceParams } from "../request/service-params.ts";
import { builtInProvider } from "../routing/provider-table.ts";
import type { Router } from "../routing/router.ts";
import type { Recorder } from "./recorder.ts";

export type RecordDeps = {
  recorder: Pick<Recorder, "add" | "claim">;
  router: Pick<Router, "modelName">;
  prices: PriceBook;
};

/** The record of one call: its ledger, and at its end the span and the customer's charge. */
export class CallRecord {
  readonly ledger: CallLedger;
  admission: Admission | undefined;
  readonly #deps: RecordDeps;
  readonly #call: GatewayCall;
  #recorded: CallRequest["recorded"];
  #isWritten = false;

  constructor(deps: RecordDeps, operation: CallOperation, call: GatewayCall) {
    this.#deps = deps;
    this.#call = call;
    this.ledger = newLedger(call, deps.recorder, operation.logType);
  }

  setRequest({ members, recorded }: CallRequest): void {
    this.ledger.request = members;
    this.#recorded = recorded;
  }

  #describe(): void {
    if (this.#recorded === undefined) return;
    this.ledger.request = this.#recorded();
    this.#recorded = undefined;
  }

  /**
   * Settles the usage of a call whose upstream began to answer: the usage that it stated, or else an estimate from its
   * output.
   * @param counted the usage that it stated with a failure
   */
  settleUsage(digest: ChatDigest | undefined, counted?: Record<string, unknown>): void {
    this.#describe();
    recordDigest(this.ledger, digest);
    if (counted !== undefined) this.ledger.usage = counted;
    settleUsage(this.ledger, digest);
  }

  /**
   * Writes the record, once: when the outcome is known and before the caller learns it. Calls `onWritten` when the
   * response may end.
   */
  write(onWritten: () => void): void {
    const { ledger } = this;
    if (this.#isWritten) return onWritten();
    this.#isWritten = true;
    ledger.endedMs = this.#call.elapsedMs();
    if (!isRecorded(ledger)) return this.#close(onWritten);
    this.#describe();
    if (!ledger.hasPlan) ledger.model = this.#deps.router.modelName(ledger.model);
    const { origin, identity, failedUsd } = ledger;
    // The intake computes the cost of the usage. It does not know the cost of failed attempts.
    const costUsd = failedUsd > 0 ? costOfCall(ledger, this.#deps.prices) : undefined;
    const call = {
      body: () => ({ ...spanOfCall(ledger), ...(costUsd !== undefined && { cost: costUsd }) }),
      origin,
      identity,
    };
    return this.#deps.recorder.add(call, () => this.#close(onWritten));
  }

  /** Resolves when the record is written, also if no response triggered it. */
  written(): Promise<void> | undefined {
    return this.#isWritten ? undefined : new Promise((resolve) => this.write(resolve));
  }

  /** Settles the charge last, so that every charge has its record. */
  #close(onWritten: () => void): void {
    const { ledger, admission } = this;
    try {
      onWritten();
    } finally {
      if (admission?.isAllowed === true)
        admission.settle(() => (isPaid(ledger) ? costOfCall(ledger, this.#deps.prices) : ledger.failedUsd));
    }
  }
}

/** The body of a call's span, as the intake reads it. With `disable_log` it has no content. */
export function spanOfCall(ledger: CallLedger): Record<string, unknown> {
  return { ...outcomeOfCall(ledger), ...requestOfCall(ledger), ...(omitsContent(ledger) ? undefined : ledger.content) };
}

/** Members of a request that are recorded under their own names. */
const recordedNumbers = ["temperature", "max_tokens", "top_p", "frequency_penalty", "presence_penalty", "n"] as const;
const recordedContent = ["tools", "tool_choice", "response_format", "stop"] as const;
const recordedParams: ReadonlySet<string> = new Set<keyof ServiceParams>([
  "customer_identifier",
  "customer_email",
  "customer_name",
  "customer_params",
  "thread_identifier",
  "session_identifier",
  "trace_unique_id",
  "span_unique_id",
  "span_parent_id",
  "trace_group_identifier",
  "span_name",
  "span_workflow_name",
  "custom_identifier",
  "group_identifier",
  "evaluation_identifier",
  "metadata",
  "properties",
  "positive_feedback",
]);

/** The part that the request determines, unchanged. Valid once its parameters are read. */
function requestOfCall(ledger: CallLedger): Record<string, unknown> {
  const { request, params } = ledger;
  const span: Record<string, unknown> = {};
  const fields: Record<string, unknown> = params;
  // Most calls have none of them.
  for (const name of Object.keys(fields)) if (recordedParams.has(name)) span[name] = fields[name];
  if (ledger.isRepeated) {
    delete span["span_unique_id"];
    span["span_parent_id"] = params.span_unique_id;
  }
  for (const name of recordedNumbers) if (typeof request[name] === "number") span[name] = request[name];
  span["max_tokens"] ??= request["max_completion_tokens"];
  if (omitsContent(ledger)) {
    span["disable_log"] = true;
    return span;
  }
  for (const name of recordedContent) if (request[name] !== undefined) span[name] = request[name];
  if (Array.isArray(request["messages"])) span["prompt_messages"] = request["messages"];
  return span;
}

/** Operation names from OpenTelemetry's semantic conventions: a span's name is operation and model. */
const operationNames: Readonly<Record<CallLedger["logType"], string>> = {
  chat: "chat",
  response: "response",
  embedding: "embeddings",
  transcription: "transcription",
  custom: "count_tokens",
};

/** The part that is known when the call has ended. */
function outcomeOfCall(ledger: CallLedger): Record<string, unknown> {
  const startNs = BigInt(Math.round(ledger.startedAtMs * 1e3)) * 1_000n;
  const notes = ledger.attemptNotes;
  const omits = omitsContent(ledger);
  const [message] = omits ? [] : ledger.messages;
  return {
    log_type: ledger.logType,
    span_name:
      ledger.params.span_name ??
      `${operationNames[ledger.logType]} ${ledger.model}`.trim().slice(0, httpLimits.nameChars),
    stream: ledger.stream,
    model: ledger.model,
    provider_id: ledger.provider,
    start_time: storedTime(startNs),
    timestamp: storedTime(startNs + BigInt(Math.round(ledger.endedMs * 1e6))),
    latency: secondsOf(ledger.endedMs),
    status_code: ledger.statusCode,
    routing_time: secondsIfKnown(ledger.routedMs),
    time_to_first_token: secondsIfKnown(ledger.firstTokenMs),
    // A cached response has the id of the call that created it.
    response_id: ledger.isCached ? undefined : ledger.responseId?.slice(0, domainLimits.identifierChars) || undefined,
    usage: billedUsage(ledger),
    usage_is_estimated: ledger.isUsageEstimated ? true : undefined,
    cache_key: ledger.cacheKey,
    cache_hit: ledger.isCached ? true : undefined,
    cost: isFree(ledger) ? 0 : undefined,
    limit_info: ledger.limitInfo,
    warnings: ledger.warnings.length > 0 ? ledger.warnings : undefined,
    attempts: notes.length === 0 ? undefined : omits ? withoutMessages(notes) : notes,
    error_message: recordedMessage(ledger),
    completion_message: message,
    completion_messages: !omits && ledger.messages.length > 1 ? ledger.messages : undefined,
  };
}

function omitsContent({ isUnread, params }: CallLedger): boolean {
  return isUnread || params.disable_log === true;
}

/** An upstream's message may quote content. That of a call whose body was not read is the gateway's own. */
function recordedMessage({ errorMessage, statusCode, params }: CallLedger): string | undefined {
  const omits = params.disable_log === true && errorMessage !== undefined;
  return omits ? `The call failed with status ${statusCode}.` : errorMessage;
}

function secondsIfKnown(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : secondsOf(ms);
}

/** The call is known to have cost nothing: no upstream was called, none answered, or the gateway itself answered. */
function isFree(ledger: CallLedger): boolean {
  const { logType, isCached, attempts, provider, failedUsd } = ledger;
  if (isCached || failedUsd > 0) return false;
  return attempts === 0 || provider === builtInProvider || logType === "custom" || !isPaid(ledger);
}
