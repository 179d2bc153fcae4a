import { formatUuid } from "../../domain/identity.ts";
import { ExpiringLru } from "../../lib/expiring-lru.ts";
import { outgoingLimits } from "../../outgoing/limits.ts";
import type { AnswerCache, CallCache } from "../cache/answer-cache.ts";
import { blockOf, blockOfStream } from "../call/blocked-answer.ts";
import { applyParams, recordReply, type CallLedger } from "../call/call-ledger.ts";
import { doneEvent } from "../call/client-answer.ts";
import type {
  CallOperation,
  CallRequest,
  GatewayCall,
  CompleteReply,
  AnswerReader,
  ReaderOptions,
  CompleteAnswer,
} from "../call/operation.ts";
import { gatewayLimits } from "../limits.ts";
import { echo, echoChunks } from "../providers/echo/echo.ts";
import { openaiCall } from "../providers/openai/request.ts";
import { readJsonReply, usageOf } from "../providers/openai/read-reply.ts";
import {
  BadReply,
  type CallFacts,
  type ChatRequest,
  type Target,
  type UpstreamProblem,
  type StreamStep,
} from "../providers/provider.ts";
import { detailedUsage } from "../record/usage-report.ts";
import { readServiceParams } from "../request/service-params.ts";
import type { Attempt } from "../routing/plan.ts";
import { builtInProvider } from "../routing/provider-table.ts";
import {
  createOpenaiSource,
  createTranslatedSource,
  streamCompletion,
  type SourceOptions,
  type StreamSink,
} from "../stream/stream-source.ts";
import { createChatDigest, type ChatDigest } from "./chat-digest.ts";
import { readChatRequest, readMembers, withoutServiceParams, type ParsedChatRequest } from "./read-chat-request.ts";

export type ChatDeps = { cache: AnswerCache; now: () => number };

/** Base URLs of upstreams that refuse `stream_options`. */
type UsageRefusals = Pick<ExpiringLru<string, true>, "get" | "set">;

/** Chat completions, in OpenAI's form for every provider. */
export function createChat({ cache, now }: ChatDeps): CallOperation {
  const usageRefusals: UsageRefusals = new ExpiringLru<string, true>({
    maxEntries: outgoingLimits.upstreamOrigins,
    ttlMs: gatewayLimits.usageRefusalMs,
    nowMs: now,
  });
  return {
    operation: "chat",
    logType: "chat",
    read(call, ledger) {
      const request = readRequest(call, ledger);
      const factsOf = (model: string): CallFacts => ({
        model,
        id: `chatcmpl-${formatUuid(ledger.identity)}`,
        created: Math.floor(call.startedAtMs / 1000),
      });
      let callCache: CallCache | undefined;
      return {
        ...request,
        members: request.body.forProvider,
        findCached(plan) {
          callCache = cache.begin({ origin: call.origin, request, operation: "chat" }, plan.first);
          return callCache?.find();
        },
        ...callOf(request, usageRefusals, now),
        builtIn: (attempt) => echoReply(request, attempt, factsOf(attempt.model)),
        reader: (how) => createChatReader({ request, ledger, cache: callCache, factsOf }, how),
      };
    },
  };
}

function readRequest(call: GatewayCall, ledger: CallLedger): ParsedChatRequest {
  const { bytes, headers } = call;
  const members = readMembers(bytes);
  const forProvider = withoutServiceParams(members);
  ledger.request = forProvider;
  ledger.stream = members["stream"] === true;
  if (typeof members["model"] === "string") ledger.model = members["model"];
  const params = readServiceParams(members, call);
  applyParams(ledger, params);
  // For cacheable calls the request is rebuilt from the parsed members that the key is made of: another parser might
  // read the original bytes differently.
  const providerMembers = params.cache_enabled === true ? { ...forProvider } : forProvider;
  return readChatRequest({ bytes, members, forProvider: providerMembers }, params, headers);
}

function callOf(
  request: ParsedChatRequest,
  usageRefusals: UsageRefusals,
  now: () => number,
): Required<Pick<CallRequest, "call" | "isCallChanged">> {
  const requestsUsage = ({ target, quirks, translator }: Attempt): boolean =>
    request.isStream &&
    translator === undefined &&
    quirks.streamUsage === "requested" &&
    usageRefusals.get(target.baseUrl) === undefined;
  return {
    call(attempt) {
      const { target, translator, quirks } = attempt;
      if (translator !== undefined) return translator.request(translatedRequest(request, target), target, now());
      return openaiCall(request.body, target, { quirks, operation: "chat", requestsUsage: requestsUsage(attempt) });
    },
    isCallChanged(attempt, problem) {
      if (!isAboutStreamOptions(problem) || !requestsUsage(attempt)) return false;
      usageRefusals.set(attempt.target.baseUrl, true);
      return true;
    },
  };
}

function isAboutStreamOptions({ kind, message, param }: UpstreamProblem): boolean {
  return kind === "request" && /stream_options|include_usage/.test(`${param ?? ""} ${message}`);
}

function translatedRequest({ messages, body, anthropicBetas }: ParsedChatRequest, target: Target): ChatRequest {
  const { anthropic_beta: given } = body.forProvider;
  const betas = [
    ...new Set([...(Array.isArray(given) ? (given as unknown[]) : given ? [given] : []), ...anthropicBetas]),
  ];
  const beta = isClaude(target) && betas.length > 0 ? { anthropic_beta: betas } : {};
  return { ...body.forProvider, ...beta, model: target.model, messages };
}

function isClaude({ provider, model }: Target): boolean {
  return provider === "anthropic" || /claude/.test(model);
}

/** The reply of the built-in model. */
function echoReply(
  { body, messages }: ParsedChatRequest,
  { target }: Attempt,
  facts: CallFacts,
): CompleteReply | UpstreamProblem {
  if (target.model !== "echo") {
    const message = `There is no model spanway/${target.model}; the built-in one is spanway/echo.`;
    return { kind: "request", status: 404, message, param: "model" };
  }
  const value = { ...echo({ ...body.forProvider, model: facts.model, messages }, facts) };
  return { headers: {}, bytes: Buffer.alloc(0), value };
}

const tokenBreakdown = "token-breakdown-2026-03-26";

type ChatParts = {
  request: ParsedChatRequest;
  ledger: CallLedger;
  cache: CallCache | undefined;
  /**
   * The metadata for a completion that is translated from another wire format. @param model the name that the caller
   * used
   */
  factsOf: (model: string) => CallFacts;
};

/** Reads one upstream's completion or its stream of chunks. */
function createChatReader(parts: ChatParts, how: ReaderOptions): AnswerReader {
  const { request, ledger, cache, factsOf } = parts;
  const { attempt, mayFallBack } = how;
  const { translator } = attempt ?? {};
  const facts = (): CallFacts => factsOf(attempt?.model ?? ledger.model);
  if (attempt !== undefined && cache !== undefined) ledger.cacheKey = cache.keyOf(attempt);
  let completion: Record<string, unknown> = {};
  const open = (sink: StreamSink): SourceOptions => {
    const digest = createChatDigest();
    reader.digest = attempt === undefined ? digest : (cache?.watch(digest) ?? digest);
    const mapUsage = request.betas.has(tokenBreakdown) ? detailedUsage : undefined;
    const unblocked = unlessBlocked(reader.digest, sink, mayFallBack);
    return { digest: reader.digest, sink: unblocked, wantsUsage: request.wantsUsage, mapUsage };
  };
  const reader: AnswerReader = {
    stream(sink) {
      const stream = translator?.stream(facts());
      return stream === undefined ? createOpenaiSource(open(sink)) : createTranslatedSource(stream, open(sink));
    },
    readComplete(reply) {
      const read = readCompletion(reply, how, facts);
      if (read.problem !== undefined) return read.problem;
      completion = read.completion;
      recordReply(ledger, completion);
      return undefined;
    },
    asStream(_reply, sink) {
      if (attempt?.target.provider === builtInProvider) streamEcho(request, facts(), open(sink));
      else streamCompletion(completion, open(sink));
    },
    answer: (reply, breakdown) => answerOf(parts, completion, bytesOf(reply, attempt), breakdown),
    lastEvents: (breakdown) => lastEventsOf(parts, reader.digest, breakdown),
  };
  if (translator !== undefined) reader.problem = (status, headers, bytes) => translator.problem(status, headers, bytes);
  if (attempt !== undefined && cache !== undefined)
    reader.keep = (reply, adjusted) =>
      cache.keep(attempt, reply && { bytes: bytesOf(reply, attempt), completion }, adjusted);
  return reader;
}

/** The provider's own bytes, if they are a completion. */
function bytesOf({ bytes }: CompleteReply, attempt: Attempt | undefined): Buffer | undefined {
  return attempt?.translator !== undefined || attempt?.target.provider === builtInProvider ? undefined : bytes;
}

/** @throws BadReply */
function readCompletion(
  reply: CompleteReply,
  { attempt, mayFallBack }: ReaderOptions,
  facts: () => CallFacts,
): { problem: UpstreamProblem; completion?: never } | { problem?: never; completion: Record<string, unknown> } {
  const { translator } = attempt ?? {};
  const read: ReturnType<typeof readJsonReply> =
    translator === undefined ? readJsonReply(reply) : { reply: { ...translator.reply(reply.bytes, facts()) } };
  if (read.problem !== undefined) return { problem: read.problem };
  const completion = read.reply;
  const { choices } = completion;
  if (!Array.isArray(choices)) throw new BadReply("The provider's response is not a chat completion.");
  if (choices.length === 0) throw new BadReply("The provider's response has no choices.", usageOf(completion));
  const problem = mayFallBack() ? blockOf(completion) : undefined;
  return problem === undefined ? { completion } : { problem };
}

function answerOf(
  { request, ledger }: ChatParts,
  completion: Record<string, unknown>,
  bytes: Buffer | undefined,
  breakdown: Record<string, unknown> | undefined,
): CompleteAnswer {
  const usage = request.betas.has(tokenBreakdown) ? ledger.usage : undefined;
  if (!request.echoes && usage === undefined && breakdown === undefined)
    return { body: bytes ?? JSON.stringify(completion) };
  const detailed = usage && { usage: detailedUsage(usage) };
  return { body: JSON.stringify({ ...completion, ...detailed, ...extrasOf(request, breakdown) }) };
}

/** Members that the caller requested beside the completion. */
function extrasOf(request: ParsedChatRequest, breakdown: Record<string, unknown> | undefined): Record<string, unknown> {
  return {
    ...(request.echoes && { prompt_messages: request.messages }),
    ...(breakdown !== undefined && { request_breakdown: breakdown }),
  };
}

/** The final events: a chunk with the members that the caller requested beside the completion, then `[DONE]`. */
function lastEventsOf(
  { request, ledger, factsOf }: ChatParts,
  digest: ChatDigest | undefined,
  request_breakdown: Record<string, unknown> | undefined,
): string {
  if (digest === undefined || (!request.echoes && request_breakdown === undefined)) return doneEvent;
  const { id, created } = factsOf("");
  const { usage, isUsageEstimated } = ledger;
  const chunk = {
    id: digest.id() ?? id,
    object: "chat.completion.chunk",
    created: digest.created() ?? created,
    model: digest.model() ?? ledger.model,
    choices: request_breakdown === undefined ? [] : [{ index: 0, delta: {}, finish_reason: null, request_breakdown }],
    ...(request.wantsUsage && usage !== undefined && !isUsageEstimated && { usage }),
    ...extrasOf(request, request_breakdown),
  };
  return `data: ${JSON.stringify(chunk)}\n\n${doneEvent}`;
}

/** Streams one chunk per word. */
function streamEcho({ body, messages }: ParsedChatRequest, facts: CallFacts, options: SourceOptions): void {
  const chunks = echoChunks({ ...body.forProvider, model: facts.model, messages }, facts);
  const step = (): StreamStep => ({ chunks, isDone: true });
  createTranslatedSource({ push: step, end: step }, options).end();
}

/**
 * Turns a stream that a content filter withheld into a problem while another model may be tried. The caller has seen
 * nothing of it.
 */
function unlessBlocked(digest: ChatDigest, sink: StreamSink, mayFallBack: () => boolean): StreamSink {
  let isStarted = false;
  const block = (): UpstreamProblem | undefined => (!isStarted && mayFallBack() ? blockOfStream(digest) : undefined);
  return {
    onEvents(events, hasContent) {
      const isForwarded = hasContent && block() === undefined;
      isStarted ||= isForwarded;
      sink.onEvents(events, isForwarded);
    },
    onDone() {
      const problem = block();
      if (problem === undefined) sink.onDone();
      else sink.onProblem(problem);
    },
    onProblem: (problem) => sink.onProblem(problem),
  };
}
