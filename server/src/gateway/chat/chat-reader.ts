import { blockOf, blockOfStream } from "../call/blocked-answer.ts";
import type { CallCache } from "../cache/answer-cache.ts";
import { recordReply, type CallLedger } from "../call/call-ledger.ts";
import { createChatDigest, type ChatDigest } from "./chat-digest.ts";
import { doneEvent } from "../call/client-answer.ts";
import type { AnswerReader, ReaderOptions, WholeAnswer, WholeReply } from "../call/operation.ts";
import { echoChunks } from "../providers/echo/echo.ts";
import { usageOf } from "../providers/openai/usage.ts";
import { BadReply, type CallFacts, type StreamStep, type UpstreamProblem } from "../providers/provider.ts";
import type { ParsedChatRequest } from "./read-chat-request.ts";
import { readJsonReply } from "../request/read-json-request.ts";
import type { Attempt } from "../routing/plan.ts";
import { builtInProvider } from "../routing/provider-table.ts";
import {
  createOpenaiSource,
  createTranslatedSource,
  streamCompletion,
  type SourceOptions,
  type StreamSink,
} from "../stream/stream-source.ts";
import { detailedUsage } from "../record/usage-report.ts";

const tokenBreakdown = "token-breakdown-2026-03-26";

export type ChatParts = {
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
export function createChatReader(parts: ChatParts, how: ReaderOptions): AnswerReader {
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
    whole(reply) {
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
function bytesOf({ bytes }: WholeReply, attempt: Attempt | undefined): Buffer | undefined {
  return attempt?.translator !== undefined || attempt?.target.provider === builtInProvider ? undefined : bytes;
}

/** @throws BadReply */
function readCompletion(
  reply: WholeReply,
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
): WholeAnswer {
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
