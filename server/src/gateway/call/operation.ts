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
import type { KeyBond } from "../responses/key-bonds.ts";
import type { Attempt, Plan } from "../routing/plan.ts";
import type { ServiceParams } from "../request/service-params.ts";
import type { StreamSink, StreamSource } from "../stream/stream-source.ts";

/** One request to the gateway, as it came over HTTP. The gateway writes the response and ends it. */
export type GatewayCall = {
  origin: SpanOrigin;
  /** What its key may do beside calling. */
  permissions: ReadonlySet<Permission>;
  bytes: Buffer;
  headers: IncomingHttpHeaders;
  /** The query string of the URL, unchanged, with its `?`. "" if the URL has no query. */
  search: string;
  /** As the caller is told it. */
  requestId: string;
  /** Aborted when the caller leaves, or when the service stops. */
  signal: AbortSignal;
  /** Milliseconds since the epoch at which the call arrived. */
  startedAtMs: number;
  elapsedMs(): number;
  response: ResponseWriter;
};

/**
 * What the operations of the gateway differ in: how a request is read, what an upstream is asked, and how its answer is read and
 * given to the caller. Everything else is the same for all of them, in run-call.ts.
 */
export type CallOperation = {
  operation: Operation;
  logType: CallLedger["logType"];
  /** How the API states errors; as OpenAI does where absent. */
  errors?: (requestId: string) => ErrorForm;
  /**
   * Reads the caller's request, and writes into the ledger what is recorded of it, as early as it is known.
   * @throws ServiceError
   */
  read(call: GatewayCall, ledger: CallLedger): Promise<CallRequest> | CallRequest;
};

/** What a caller asks for. */
export type CallRequest = {
  params: ServiceParams;
  /** "" where only `models` or a load balancing group name one. */
  model: string;
  betas: ReadonlySet<string>;
  routeProvider: string | undefined;
  /** The caller's members for the provider. */
  asked: Record<string, unknown>;
  /** The same as it is recorded, where it has another form; asked for once, while an upstream is waited for. */
  recorded?: () => Record<string, unknown>;
  isStream: boolean;
  /** The key that it is bound to. */
  bond?: KeyBond | undefined;
  /** What is transcribed. */
  recording?: Buffer;
  /** An answer that was given before to the same request. */
  recall?: (plan: Plan) => Promise<RecalledAnswer | undefined> | undefined;
  /**
   * The call to one upstream. The same request may be sent to several, one after the other.
   * @throws ServiceError where this upstream cannot be asked for it
   */
  call(attempt: Attempt): UpstreamRequest;
  /** Whether the same upstream would answer to a call without what it refused; the next `call` leaves that out. */
  isCallChanged?: (attempt: Attempt, problem: UpstreamProblem) => boolean;
  /** The answer of a model that is built in; absent where the operation has none. */
  builtIn?: (attempt: Attempt) => WholeReply | UpstreamProblem;
  /** Reads the answer of one upstream. */
  reader(how: ReaderOptions): AnswerReader;
  /** Headers of an upstream's answer that go on to the caller. */
  passes?: (headers: IncomingHttpHeaders) => OutgoingHttpHeaders;
};

/** `adjusted`: parameters that this upstream has no match for, and that were left out or changed. */
export type UpstreamRequest = OutgoingCall & { adjusted?: readonly string[] };

export type ReaderOptions = {
  /** Undefined for an answer that was recalled. */
  attempt: Attempt | undefined;
  /** Whether calls like this one may go by several keys, so that what one of them made has to name it. */
  hasManyKeys: boolean;
  /** Whether another model can still answer: then a reply that a filter held back is a problem. */
  mayAskOther: () => boolean;
};

/** A whole answer of an upstream, with a status of 2xx. `value`: what its bytes hold, where it is parsed already. */
export type WholeReply = { headers: IncomingHttpHeaders; bytes: Buffer; value?: Record<string, unknown> };

export type RecalledAnswer = {
  reply: WholeReply;
  key: string;
  provider: string;
  model: string;
  adjusted: readonly string[];
};

/** Reads one answer into the ledger, and makes of it what the caller gets. */
export type AnswerReader = {
  /** What a stream has said so far, where that is not in the ledger already; absent before a stream begins. */
  digest?: ChatDigest | undefined;
  /** Whether an answer with these headers is a stream, where one is wanted; by default all but JSON is. */
  isStream?: (headers: IncomingHttpHeaders) => boolean;
  /** Reads a stream. There wherever a stream may be wanted. */
  stream?: (sink: StreamSink) => StreamSource;
  /**
   * Copies a whole reply into the ledger, or returns the problem that makes it unusable.
   * @throws BadReply
   */
  whole(reply: WholeReply): UpstreamProblem | undefined;
  /** Gives a whole reply as the events of a stream. There wherever `stream` is. */
  asStream?: (reply: WholeReply, sink: StreamSink) => void;
  /** A whole reply goes on as it is, unless the head of a stream is out: the API has models that do not stream. */
  mayAnswerWhole?: boolean;
  /** What an answer with an error's status says; read in OpenAI's form by default. */
  problem?: (status: number, headers: IncomingHttpHeaders, bytes: Buffer) => UpstreamProblem;
  /** The caller's whole answer. @param breakdown where one was asked for */
  answer(reply: WholeReply, breakdown: Record<string, unknown> | undefined): WholeAnswer;
  /** What ends the caller's stream. @param breakdown where one was asked for */
  lastEvents?: (breakdown: Record<string, unknown> | undefined) => string;
  /** Keeps an answer that was given, so that it can be recalled. @param reply undefined after a stream */
  keep?: (reply: WholeReply | undefined, adjusted: readonly string[]) => void;
};

export type WholeAnswer = { body: Buffer | string; headers?: OutgoingHttpHeaders };
