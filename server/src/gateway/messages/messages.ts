import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import { anthropicErrorBody, anthropicErrorStatus } from "../../domain/anthropic-errors.ts";
import { domainLimits } from "../../domain/limits.ts";
import { isObject, parseJson, parseObjectText } from "../../lib/json.ts";
import { readRequest as readMessages } from "../../messages/request.ts";
import { blockOf, blockOfStream } from "../call/blocked-answer.ts";
import { applyParams, recordReply, type CallLedger } from "../call/call-ledger.ts";
import { errorOfProblem, type CallError, type ErrorForm } from "../call/client-answer.ts";
import type { OutgoingCall } from "../call/exchange.ts";
import type { AnswerReader, CallOperation, CallRequest, GatewayCall } from "../call/operation.ts";
import { createChatDigest, type ChatDigest } from "../chat/chat-digest.ts";
import { checkTokenBounds, readMembers, readRouteHeaders } from "../chat/read-chat-request.ts";
import { readJsonReply } from "../providers/openai/read-reply.ts";
import { checkModelName, checkStreamFlag } from "../request/read-json-request.ts";
import { gatewayLimits } from "../limits.ts";
import { readProblem } from "../providers/anthropic/problem.ts";
import { fromAnthropic } from "../providers/anthropic/reply.ts";
import { anthropicVersion, keyHeader, messagesUrl } from "../providers/anthropic/request.ts";
import { createAnthropicReader } from "../providers/anthropic/stream.ts";
import { BadReply, type RelayedOperation, type Target, type UpstreamProblem } from "../providers/provider.ts";
import { readServiceParams, type ServiceParams } from "../request/service-params.ts";
import { createEventSource, feedEvents, type EventReader } from "../stream/event-source.ts";
import { messageAsEvents } from "./message-as-events.ts";

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
            readComplete({ bytes }) {
              const completion = { ...fromAnthropic(bytes, facts) };
              const block = mayFallBack() ? blockOf(completion) : undefined;
              if (block === undefined) recordReply(ledger, completion);
              return block;
            },
            asStream: (reply, sink) => feedEvents(messageAsEvents(readJsonReply(reply).reply), sink),
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
          readComplete({ bytes }) {
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

/** The customer that `metadata.user_id` of a request names, and the session if it contains one. */
type NamedUser = { customer?: string; session?: string };

/**
 * The earlier form of Claude Code: `user_<device>_account_<account>_session_<session>`; the account is empty with an
 * API key.
 */
const joinedIds = /^user_([0-9a-f]{16,})_account_([\w-]*)_session_([\w-]+)$/i;

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/**
 * Claude Code puts device, account and session into one id, today as JSON. The account, or else the device, is the
 * customer: the whole id would make each session a customer.
 */
export function readNamedUser(metadata: unknown): NamedUser {
  const id = isObject(metadata) ? metadata["user_id"] : undefined;
  if (typeof id !== "string" || id === "") return {};
  const [, device = "", account = "", session] = joinedIds.exec(id) ?? [];
  if (session !== undefined) return { customer: account || device, session };
  const parts = id.startsWith("{") ? parseObjectText(id) : undefined;
  const { device_id, account_uuid, session_id } = parts ?? {};
  const [customer, named] = [[account_uuid, device_id], [session_id]].map((ids) => ids.find(isText));
  if (customer === undefined && named === undefined) return { customer: id };
  return { ...(customer !== undefined && { customer }), ...(named !== undefined && { session: named }) };
}

/** The recorded form of a Messages API request: its members under OpenAI's chat names. */
export function recordedRequest(members: Record<string, unknown>): Record<string, unknown> {
  const { stop_sequences: stop, tool_choice: choice } = members;
  const { prompt, tools } = readMessages(members) ?? {};
  const { max_tokens, temperature, top_p } = members;
  return {
    max_tokens,
    temperature,
    top_p,
    ...(prompt !== undefined && { messages: prompt }),
    ...(tools !== undefined && { tools }),
    ...(isObject(choice) && { tool_choice: choiceOf(choice) }),
    ...(stop !== undefined && { stop }),
  };
}

function choiceOf({ type, name }: Record<string, unknown>): unknown {
  if (type === "any") return "required";
  return type === "tool" ? { type: "function", function: { name } } : type;
}

/**
 * Errors in the form of Anthropic's API (ADR 0034). The upstream's error is forwarded unchanged, except errors about
 * the key, which is not the caller's.
 */
function anthropicErrors(requestId: string): ErrorForm {
  const publicError = (error: CallError): CallError => ({
    ...error,
    status: error.status === 424 ? statusOfFault(error) : error.status,
    headers: { "request-id": requestId, ...error.headers },
  });
  const ofProblem = (problem: UpstreamProblem): CallError => {
    const error = errorOfProblem(problem);
    if (problem.kind === "credential") return publicError(ofCredential(error));
    const status = problem.status === 200 ? anthropicErrorStatus(problem.type) : problem.status;
    // Statuses that HTTP does not define are not forwarded.
    if (status === undefined || status < 400 || status > 599) return publicError(error);
    const { answer } = problem;
    if (answer === undefined) return publicError({ ...error, status });
    return publicError({ ...error, status, body: answer.text, headers: { ...error.headers, ...answer.headers } });
  };
  const body = ({ body: stated, status, message }: CallError): string =>
    stated ?? JSON.stringify(anthropicErrorBody({ status, message }, requestId));
  return {
    ofProblem,
    ofBreak: ofProblem,
    adapted: publicError,
    body,
    event: (error) => `event: error\ndata: ${body(error).replace(/\r\n?|\n/g, "\ndata: ")}\n\n`,
  };
}

/** Anthropic's API has no 424: its clients retry after a status of 500 and above. */
function statusOfFault({ code }: CallError): number {
  return code === "timeout" || code === "upstream_timeout" ? 504 : 502;
}

function ofCredential(error: CallError): CallError {
  const isOutOfCredit = error.code === "upstream_out_of_credit";
  const message = isOutOfCredit ? "The account of the credential in use is out of credit." : error.message;
  return { ...error, message, headers: { ...error.headers, "x-should-retry": "false" } };
}
