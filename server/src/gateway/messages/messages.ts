import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import { isObject, parseJson } from "../../lib/json.ts";
import { limits } from "../../limits.ts";
import { blockOf, blockOfStream } from "../blocked-answer.ts";
import { takeParams, takeReply, type CallLedger } from "../call-ledger.ts";
import { createChatDigest } from "../chat-digest.ts";
import { checkTokenBounds } from "../estimate/read-token-bounds.ts";
import type { OutgoingCall } from "../exchange.ts";
import { readProblem } from "../providers/anthropic/problem.ts";
import { fromAnthropic } from "../providers/anthropic/reply.ts";
import { anthropicVersion, keyHeader, messagesUrl } from "../providers/anthropic/request.ts";
import { createAnthropicReader } from "../providers/anthropic/stream.ts";
import { BadReply, type RelayedOperation, type Target, type UpstreamProblem } from "../providers/provider.ts";
import { readMembers, readRouteHeaders } from "../read-chat-request.ts";
import { badMember, readJsonReply } from "../relay/read-json-ask.ts";
import type { RelayAsk, RelayCall, RelayOperation, RelayStream } from "../relay/relay.ts";
import { readServiceParams, type ServiceParams } from "../service-params.ts";
import { anthropicErrors } from "./errors.ts";
import { readNamedUser } from "./named-user.ts";
import { recordedRequest } from "./recorded-request.ts";
import { wholeAsEvents } from "./whole-as-events.ts";

/** Anthropic's Messages: bytes go on as they came, in both directions. */
export function createMessages(): RelayOperation {
  return {
    operation: "messages",
    logType: "chat",
    errors: anthropicErrors,
    read(call, ledger) {
      const ask = readAsk(call, ledger, "messages");
      const { stream } = ask.asked;
      ledger.stream = stream === true;
      const facts = { model: ask.model, id: "", created: Math.floor(call.startedAtMs / 1000) };
      return {
        ...ask,
        recorded: () => recordedRequest(ask.asked),
        read: ({ bytes }, toLedger, mayAskOther) => {
          const completion = { ...fromAnthropic(bytes, facts) };
          const block = mayAskOther() ? blockOf(completion) : undefined;
          if (block === undefined) takeReply(toLedger, completion);
          return block;
        },
        ...(stream === true && {
          stream: (_ledger, mayAskOther) => createMessageStream(facts, mayAskOther),
          events: (whole) => wholeAsEvents(readJsonReply(whole).reply),
        }),
      };
    },
  };
}

/** Counts of tokens, which cost nothing. The prompt is not recorded: the message that follows holds it. */
export function createTokenCounts(): RelayOperation {
  return {
    operation: "count_tokens",
    logType: "custom",
    errors: anthropicErrors,
    read(call, ledger) {
      return {
        ...readAsk(call, ledger, "count_tokens"),
        recorded: () => ({}),
        read: ({ bytes }, toLedger) => {
          const parsed = parseJson(bytes);
          const counted = parsed.ok && isObject(parsed.value) ? parsed.value["input_tokens"] : undefined;
          if (typeof counted !== "number") throw new BadReply("Anthropic's reply holds no token count");
          toLedger.content = { output: { input_tokens: counted } };
          return undefined;
        },
      };
    },
  };
}

/** Parameters of ours stand in headers alone: in the body they would change what was sent. */
function readAsk(call: RelayCall, ledger: CallLedger, operation: RelayedOperation): Omit<RelayAsk, "read"> {
  const { bytes, headers, search, requestId } = call;
  const members = readMembers(bytes);
  const { model, stream } = members;
  if (typeof model === "string") ledger.model = model;
  const params = readParams(members, call);
  takeParams(ledger, params);
  if (typeof model !== "string" || model === "" || model.length > limits.identifierChars) {
    throw badMember("model", "must name a model");
  }
  if (stream !== undefined && stream !== null && typeof stream !== "boolean") {
    throw badMember("stream", "must be true or false");
  }
  checkTokenBounds(members);
  return {
    params,
    model,
    ...readRouteHeaders(headers),
    asked: members,
    readProblem: readPassedProblem,
    passes: (answered) => ({ "request-id": requestId, ...passedHeaders(answered) }),
    call: ({ target }) => ({
      method: "POST",
      url: `${messagesUrl(target)}${operation === "count_tokens" ? "/count_tokens" : ""}${search}`,
      headers: { ...headersFrom(headers, stream === true), ...keyHeader(target) },
      body: bodyFor(target, bytes, members),
    }),
    answer: ({ bytes: body }) => ({ body, headers: {} }),
  };
}

function readParams(members: Record<string, unknown>, call: RelayCall): ServiceParams {
  const { customer, session } = readNamedUser(members["metadata"]);
  const params = readServiceParams(customer === undefined ? {} : { user: customer }, call);
  // There is no place for a breakdown in what goes on as it came.
  delete params.request_breakdown;
  if (session === undefined || session.length > limits.identifierChars) return params;
  return { session_identifier: session, thread_identifier: session, ...params };
}

/** The caller's own bytes, unless another model is asked than they name. */
function bodyFor({ model }: Target, bytes: Buffer, members: Record<string, unknown>): Buffer {
  return members["model"] === model ? bytes : Buffer.from(JSON.stringify({ ...members, model }));
}

/** Of the caller's headers those of Anthropic's API alone. */
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

/** What its SDKs read of an answer: its id, what is left of the limits, whether to try again. Whose account it is, is ours to know. */
function passedHeaders(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const passed = Object.entries(headers).filter(
    ([name]) => passedNames.has(name) || (name.startsWith("anthropic-") && name !== "anthropic-organization-id"),
  );
  return Object.fromEntries(passed);
}

const passedNames: ReadonlySet<string> = new Set(["request-id", "retry-after", "x-should-retry"]);

/** An error goes on as it came where it is one of Anthropic's. */
function readPassedProblem(status: number, headers: IncomingHttpHeaders, bytes: Buffer): UpstreamProblem {
  const problem = readProblem(status, headers, bytes);
  if (problem.type === undefined || bytes.length > limits.upstreamMessageChars) return problem;
  return { ...problem, answer: { text: bytes.toString("utf8"), headers: passedHeaders(headers) } };
}

/** Events that neither end a stream nor tell of a failure. */
const middles: ReadonlySet<string> = new Set([
  "ping",
  "content_block_start",
  "content_block_delta",
  "content_block_stop",
  "message_delta",
]);

/** Read as a chat's is, beside its way to the caller. */
function createMessageStream(
  facts: Parameters<typeof createAnthropicReader>[0],
  mayAskOther: () => boolean,
): RelayStream {
  const reader = createAnthropicReader(facts);
  const digest = createChatDigest();
  let isBegun = false;
  /** Of a stream that a filter held back, of which the caller has seen nothing yet. */
  const blockSoFar = (): UpstreamProblem | undefined => (!isBegun && mayAskOther() ? blockOfStream(digest) : undefined);
  digest.askForUsage(() => reader.usage());
  return {
    digest,
    keepsAll: true,
    isMiddle: ({ name }) => middles.has(name),
    take(event) {
      const { chunks, isDone = false, problem } = reader.take(event);
      let hasContent = event.name === "content_block_delta";
      for (const chunk of chunks) if (digest.add(chunk)) hasContent = true;
      const block = hasContent || isDone ? blockSoFar() : undefined;
      if (block !== undefined && problem === undefined) return isDone ? { problem: block } : {};
      isBegun ||= hasContent;
      if (problem === undefined) return { hasContent, isDone };
      const { data = "" } = event;
      const isTold = event.name === "error" && data.length <= limits.upstreamMessageChars;
      return { hasContent, problem: isTold ? { ...problem, answer: { text: data, headers: {} } } : problem };
    },
  };
}
