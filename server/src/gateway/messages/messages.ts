import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import { isObject, parseJson } from "../../lib/json.ts";
import { domainLimits } from "../../domain/limits.ts";
import { gatewayLimits } from "../limits.ts";
import { blockOf, blockOfStream } from "../call/blocked-answer.ts";
import { applyParams, recordReply, type CallLedger } from "../call/call-ledger.ts";
import { createChatDigest, type ChatDigest } from "../chat/chat-digest.ts";
import { checkTokenBounds } from "../estimate/read-token-bounds.ts";
import { createEventSource, feedEvents, type EventReader } from "../stream/event-source.ts";
import type { OutgoingCall } from "../call/exchange.ts";
import type { AnswerReader, CallOperation, CallRequest, GatewayCall } from "../call/operation.ts";
import { readProblem } from "../providers/anthropic/problem.ts";
import { fromAnthropic } from "../providers/anthropic/reply.ts";
import { anthropicVersion, keyHeader, messagesUrl } from "../providers/anthropic/request.ts";
import { createAnthropicReader } from "../providers/anthropic/stream.ts";
import { BadReply, type RelayedOperation, type Target, type UpstreamProblem } from "../providers/provider.ts";
import { readMembers, readRouteHeaders } from "../chat/read-chat-request.ts";
import { checkModelName, checkStreamFlag, readJsonReply } from "../request/read-json-request.ts";
import { readServiceParams, type ServiceParams } from "../request/service-params.ts";
import { anthropicErrors } from "./errors.ts";
import { readNamedUser } from "./named-user.ts";
import { recordedRequest } from "./recorded-request.ts";
import { wholeAsEvents } from "./whole-as-events.ts";

/** Anthropic's Messages API: bytes are forwarded unchanged in both directions. */
export function createMessages(): CallOperation {
  return {
    operation: "messages",
    logType: "chat",
    errors: anthropicErrors,
    read(call, ledger) {
      const request = readRequest(call, ledger, "messages");
      const facts = { model: request.model, id: "", created: Math.floor(call.startedAtMs / 1000) };
      return {
        ...request,
        recorded: () => recordedRequest(request.members),
        reader: ({ mayFallBack }) => {
          const reader: AnswerReader = {
            ...passed,
            stream(sink) {
              const { digest, events } = readMessageStream(facts, mayFallBack);
              reader.digest = digest;
              return createEventSource(events, sink);
            },
            whole({ bytes }) {
              const completion = { ...fromAnthropic(bytes, facts) };
              const block = mayFallBack() ? blockOf(completion) : undefined;
              if (block === undefined) recordReply(ledger, completion);
              return block;
            },
            asStream: (reply, sink) => feedEvents(wholeAsEvents(readJsonReply(reply).reply), sink),
          };
          return reader;
        },
      };
    },
  };
}

/** Token counts, which cost nothing. The prompt is not recorded: the message that follows contains it. */
export function createTokenCounts(): CallOperation {
  return {
    operation: "count_tokens",
    logType: "custom",
    errors: anthropicErrors,
    read(call, ledger) {
      const request = readRequest(call, ledger, "count_tokens");
      return {
        ...request,
        isStream: false,
        recorded: () => ({}),
        reader: () => ({
          ...passed,
          whole({ bytes }) {
            const parsed = parseJson(bytes);
            const counted = parsed.ok && isObject(parsed.value) ? parsed.value["input_tokens"] : undefined;
            if (typeof counted !== "number") throw new BadReply("Anthropic's reply has no token count");
            ledger.content = { output: { input_tokens: counted } };
            return undefined;
          },
        }),
      };
    },
  };
}

/** Responses are forwarded unchanged. */
const passed: Pick<AnswerReader, "answer" | "problem"> = {
  answer: ({ bytes: body }) => ({ body }),
  problem: readPassedProblem,
};

/** Service parameters come only from headers: in the body they would change what is forwarded. */
function readRequest(call: GatewayCall, ledger: CallLedger, operation: RelayedOperation): Omit<CallRequest, "reader"> {
  const { bytes, headers, search, requestId } = call;
  const members = readMembers(bytes);
  const isStream = members["stream"] === true;
  if (operation === "messages") Object.assign(ledger, { request: members, stream: isStream });
  if (typeof members["model"] === "string") ledger.model = members["model"];
  const params = readParams(members, call);
  applyParams(ledger, params);
  const model = checkModelName(members);
  checkStreamFlag(members);
  checkTokenBounds(members);
  return {
    params,
    model,
    ...readRouteHeaders(headers),
    members,
    isStream,
    passes: (answered) => ({ "request-id": requestId, ...passedHeaders(answered) }),
    call: ({ target }) => ({
      method: "POST",
      url: `${messagesUrl(target)}${operation === "count_tokens" ? "/count_tokens" : ""}${search}`,
      headers: { ...headersFrom(headers, isStream), ...keyHeader(target) },
      body: bodyFor(target, bytes, members),
    }),
  };
}

function readParams(members: Record<string, unknown>, call: GatewayCall): ServiceParams {
  const { customer, session } = readNamedUser(members["metadata"]);
  const params = readServiceParams(customer === undefined ? {} : { user: customer }, call);
  // A response that is forwarded unchanged has no place for a breakdown.
  delete params.request_breakdown;
  if (session === undefined || session.length > domainLimits.identifierChars) return params;
  return { session_identifier: session, thread_identifier: session, ...params };
}

/** The caller's own bytes, unless the plan uses another model than they name. */
function bodyFor({ model }: Target, bytes: Buffer, members: Record<string, unknown>): Buffer {
  return members["model"] === model ? bytes : Buffer.from(JSON.stringify({ ...members, model }));
}

/** Forwards only the caller's headers of Anthropic's API. */
function headersFrom(headers: IncomingHttpHeaders, isStream: boolean): OutgoingCall["headers"] {
  const own = Object.entries(headers).filter(([name]) => name.startsWith("anthropic-"));
  return {
    "content-type": "application/json",
    accept: isStream ? "text/event-stream" : "application/json",
    "accept-encoding": "identity",
    "user-agent": "spanway",
    "anthropic-version": anthropicVersion,
    ...Object.fromEntries(own.flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : []))),
  };
}

/**
 * The headers that Anthropic's SDKs read: request id, rate limits and retry advice. Not the organization that owns the
 * account.
 */
function passedHeaders(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const passed = Object.entries(headers).filter(
    ([name]) => passedNames.has(name) || (name.startsWith("anthropic-") && name !== "anthropic-organization-id"),
  );
  return Object.fromEntries(passed);
}

const passedNames: ReadonlySet<string> = new Set(["request-id", "retry-after", "x-should-retry"]);

/** An error in Anthropic's form is forwarded unchanged. */
function readPassedProblem(status: number, headers: IncomingHttpHeaders, bytes: Buffer): UpstreamProblem {
  const problem = readProblem(status, headers, bytes);
  if (problem.type === undefined || bytes.length > gatewayLimits.upstreamMessageChars) return problem;
  return { ...problem, answer: { text: bytes.toString("utf8"), headers: passedHeaders(headers) } };
}

/** Events that neither end a stream nor report a failure. */
const middles: ReadonlySet<string> = new Set([
  "ping",
  "content_block_start",
  "content_block_delta",
  "content_block_stop",
  "message_delta",
]);

/** Reads the stream as a chat's while it is forwarded. */
function readMessageStream(
  facts: Parameters<typeof createAnthropicReader>[0],
  mayFallBack: () => boolean,
): { digest: ChatDigest; events: EventReader } {
  const reader = createAnthropicReader(facts);
  const digest = createChatDigest();
  let isStarted = false;
  /** The block of a stream that a content filter withheld, while the caller has seen nothing of it. */
  const blockSoFar = (): UpstreamProblem | undefined =>
    !isStarted && mayFallBack() ? blockOfStream(digest) : undefined;
  digest.expectUsage(() => reader.usage());
  const events: EventReader = {
    keepsAll: true,
    isMiddle: ({ name }) => middles.has(name),
    take(event) {
      const { chunks, isDone = false, problem } = reader.take(event);
      let hasContent = event.name === "content_block_delta";
      for (const chunk of chunks) if (digest.add(chunk)) hasContent = true;
      const block = hasContent || isDone ? blockSoFar() : undefined;
      if (block !== undefined && problem === undefined) return isDone ? { problem: block } : {};
      isStarted ||= hasContent;
      if (problem === undefined) return { hasContent, isDone };
      const { data = "" } = event;
      const hasMessage = event.name === "error" && data.length <= gatewayLimits.upstreamMessageChars;
      return { hasContent, problem: hasMessage ? { ...problem, answer: { text: data, headers: {} } } : problem };
    },
  };
  return { digest, events };
}
