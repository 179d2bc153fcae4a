import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import type { Permission } from "../../domain/permissions.ts";
import type { ResponseWriter } from "../../http/response-writer.ts";
import type { SpanOrigin } from "../../ingest/normalize/normalize.ts";
import type { CallLedger } from "./call-ledger.ts";
import type { ChatDigest } from "../chat/chat-digest.ts";
import type { ErrorForm } from "./client-answer.ts";
import type { OutgoingCall } from "./exchange.ts";
import type { UpstreamProblem } from "../providers/provider.ts";
import type { Operation } from "../providers/quirks.ts";
import type { KeyMark } from "../responses/key-marks.ts";
import type { Attempt, Plan } from "../routing/plan.ts";
import type { ServiceParams } from "../request/service-params.ts";
import type { StreamSink, StreamSource } from "../stream/stream-source.ts";

/** One HTTP request to the gateway. The gateway writes the response and ends it. */
export type GatewayCall = {
  origin: SpanOrigin;
  /** Further permissions of the caller's key. */
  permissions: ReadonlySet<Permission>;
  bytes: Buffer;
  headers: IncomingHttpHeaders;
  /** The query string of the URL, unchanged, with its `?`. "" if the URL has no query. */
  search: string;
  /** The id that the caller receives. */
  requestId: string;
  /** Aborted when the caller disconnects or the service stops. */
  signal: AbortSignal;
  /** Arrival time, in milliseconds since the epoch. */
  startedAtMs: number;
  elapsedMs(): number;
  response: ResponseWriter;
};

/**
 * The parts in which the operations differ: how to read a request, what to send to an upstream, and how to read its
 * response and return it to the caller. Everything else is the same for all operations, in run-call.ts.
 */
export type CallOperation = {
  operation: Operation;
  logType: CallLedger["logType"];
  /** How the API states errors. Default: OpenAI's form. */
  errors?: (requestId: string) => ErrorForm;
  /**
   * Reads the caller's request, and writes what is recorded of it into the ledger as soon as it is known.
   * @throws ServiceError
   */
  read(call: GatewayCall, ledger: CallLedger): Promise<CallRequest> | CallRequest;
};

/** A parsed request. */
export type CallRequest = {
  params: ServiceParams;
  /** "" if only `models` or a load balancing group names a model. */
  model: string;
  betas: ReadonlySet<string>;
  routeProvider: string | undefined;
  /** The members of the request that are meant for the provider. */
  members: Record<string, unknown>;
  /** The recorded form, if it differs from `members`. Called once, when the call ends. */
  recorded?: () => Record<string, unknown>;
  isStream: boolean;
  /** The key mark in the request, whose provider key must serve it. */
  keyMark?: KeyMark | undefined;
  /** The audio to transcribe. */
  recording?: Buffer;
  /** Returns the cached response to the same request, if there is one. */
  findCached?: (plan: Plan) => Promise<CachedReply | undefined> | undefined;
  /**
   * Builds the request to one upstream. May be called for several upstreams, one after the other.
   * @throws ServiceError if this upstream cannot serve the request
   */
  call(attempt: Attempt): UpstreamRequest;
  /**
   * Whether the same upstream would accept the request without the part that it refused. The next `call` omits that
   * part.
   */
  isCallChanged?: (attempt: Attempt, problem: UpstreamProblem) => boolean;
  /** The reply of a built-in model. Absent if the operation has none. */
  builtIn?: (attempt: Attempt) => CompleteReply | UpstreamProblem;
  /** Creates the reader for the response of one upstream. */
  reader(how: ReaderOptions): AnswerReader;
  /** Selects the headers of the upstream's response that are forwarded to the caller. */
  passes?: (headers: IncomingHttpHeaders) => OutgoingHttpHeaders;
};

/** `adjusted`: parameters without a match at this upstream, which were omitted or changed. */
export type UpstreamRequest = OutgoingCall & { adjusted?: readonly string[] };

export type ReaderOptions = {
  /** Undefined for a cached answer. */
  attempt: Attempt | undefined;
  /** Whether similar calls may use several keys, so that ids of what one key created must name that key. */
  hasManyKeys: boolean;
  /** Whether another model can still answer: then a reply that a content filter withheld is a problem. */
  mayFallBack: () => boolean;
};

/** A complete upstream response with a 2xx status. `value`: the parsed body, if it is parsed already. */
export type CompleteReply = { headers: IncomingHttpHeaders; bytes: Buffer; value?: Record<string, unknown> };

export type CachedReply = {
  reply: CompleteReply;
  key: string;
  provider: string;
  model: string;
  adjusted: readonly string[];
};

/** Reads one upstream response into the ledger and builds the caller's response from it. */
export type AnswerReader = {
  /** What a stream has sent so far, if that is not in the ledger already. Absent before a stream begins. */
  digest?: ChatDigest | undefined;
  /** Whether a response with these headers is a stream, if one was requested. Default: every type except JSON. */
  isStream?: (headers: IncomingHttpHeaders) => boolean;
  /** Creates the reader of a stream. Present wherever a stream may be requested. */
  stream?: (sink: StreamSink) => StreamSource;
  /**
   * Copies a complete reply into the ledger, or returns the problem that makes it unusable.
   * @throws BadReply
   */
  readComplete(reply: CompleteReply): UpstreamProblem | undefined;
  /** Writes a complete reply as the events of a stream. Present wherever `stream` is. */
  asStream?: (reply: CompleteReply, sink: StreamSink) => void;
  /**
   * A complete reply is forwarded as it is unless the head of a stream was sent: the API has models that do not stream.
   */
  mayAnswerUnstreamed?: boolean;
  /** Reads a response with an error status. Default: OpenAI's form. */
  problem?: (status: number, headers: IncomingHttpHeaders, bytes: Buffer) => UpstreamProblem;
  /** The caller's complete response. @param breakdown present if the caller requested one */
  answer(reply: CompleteReply, breakdown: Record<string, unknown> | undefined): CompleteAnswer;
  /** The events that end the caller's stream. @param breakdown present if the caller requested one */
  lastEvents?: (breakdown: Record<string, unknown> | undefined) => string;
  /** Stores the answer in the cache. @param reply undefined after a stream */
  keep?: (reply: CompleteReply | undefined, adjusted: readonly string[]) => void;
};

export type CompleteAnswer = { body: Buffer | string; headers?: OutgoingHttpHeaders };
