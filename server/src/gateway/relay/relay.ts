import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import type { ServiceError } from "../../domain/errors.ts";
import type { SseEvent } from "../../lib/sse.ts";
import type { CallLedger } from "../call-ledger.ts";
import type { ChatCall, ChatDeps } from "../chat.ts";
import type { ChatDigest } from "../chat-digest.ts";
import type { ErrorForm } from "../client-answer.ts";
import type { OutgoingCall } from "../exchange.ts";
import type { UpstreamProblem } from "../providers/provider.ts";
import { recordRefusal, type UnreadCall } from "../record-refusal.ts";
import type { Operation } from "../providers/quirks.ts";
import type { Attempt } from "../routing/plan.ts";
import type { ServiceParams } from "../service-params.ts";
import type { KeyBond } from "../responses/key-bonds.ts";
import { RelayRun } from "./relay-run.ts";
import type { ReadProblem, WholeReply } from "./whole-exchange.ts";

/** A request that is passed on. */
export type RelayCall = ChatCall & {
  /** As the caller is told it. */
  requestId: string;
  /** The query of the URL as it was sent, with its `?`; "" where there is none. */
  search: string;
};

/** What a caller wants of an operation that is passed on to providers that have it. */
export type RelayAsk = {
  params: ServiceParams;
  model: string;
  betas: ReadonlySet<string>;
  routeProvider: string | undefined;
  /** The caller's members for the provider, to be recorded. */
  asked: Record<string, unknown>;
  /** The same in OpenAI's form, where they are of another; made while an upstream is waited for. */
  recorded?: () => Record<string, unknown>;
  /** The key that it is bound to. */
  bond?: KeyBond | undefined;
  /** Marks what the provider keeps for the key that answered. */
  bind?: (bond: string) => KeyBinding;
  /** What is transcribed. */
  recording?: Buffer;
  /** What an answer with an error's status says, where not in OpenAI's form. */
  readProblem?: ReadProblem;
  /** Headers of an upstream's answer that go on to the caller. */
  passes?: (headers: IncomingHttpHeaders) => OutgoingHttpHeaders;
  /** The call to one upstream. The same ask is put to several, if need be. */
  call(attempt: Attempt): OutgoingCall;
  /**
   * Copies a reply into the ledger, or returns the problem that makes it unusable.
   * @param mayAskOther whether another model can still answer: then a reply that a filter held back is a problem
   * @throws BadReply
   */
  read(reply: WholeReply, ledger: CallLedger, mayAskOther: () => boolean): UpstreamProblem | undefined;
  /** Where a stream is wanted: reads the events of one upstream's answer. @param mayAskOther as for `read` */
  stream?: (ledger: CallLedger, mayAskOther: () => boolean) => RelayStream;
  /** The events that say the same as a whole reply, for a caller who wants a stream; there wherever `stream` is. */
  events?: (reply: WholeReply) => string;
  /** A whole reply goes on as it is unless the head of the stream is out: the API has models that know no streams. */
  mayAnswerWhole?: boolean;
  /** The answer to the caller. @param breakdown where one was asked for */
  answer(reply: WholeReply, breakdown: Record<string, unknown> | undefined): RelayAnswer;
};

/** Looks at the events of a stream, which go on to the caller as they are. */
export type RelayStream = {
  /** What an event means: content that commits the call to this upstream, the end, or a failure. */
  take(event: SseEvent): { hasContent?: boolean; isDone?: boolean; problem?: UpstreamProblem };
  /** Whether an event is neither end nor failure, by its name alone: it may go on before it is read. */
  isMiddle?(event: SseEvent): boolean;
  /** Every byte goes on, comments and ends of lines as well. */
  keepsAll?: boolean;
  /** Nothing is missing where it ends without an event that says so. */
  mayJustEnd?: boolean;
  /** What was read, for the record, where it is not in the ledger already. */
  digest?: ChatDigest;
};

export type KeyBinding = { reply: (reply: WholeReply) => WholeReply; event: (event: SseEvent) => Buffer };

export type RelayAnswer = { body: Buffer | string; headers: OutgoingHttpHeaders };

export type RelayDeps = Omit<ChatDeps, "usageRefusals" | "drafting" | "cache">;

export type RelayOperation = {
  operation: Operation;
  logType: CallLedger["logType"];
  /** How the API tells errors; as OpenAI does where absent. */
  errors?: (requestId: string) => ErrorForm;
  /** Reads the caller's request, its service parameters into the ledger, too. @throws ServiceError */
  read(call: RelayCall, ledger: CallLedger): Promise<RelayAsk> | RelayAsk;
};

/** Operations that pass from a provider to the caller as they are: one request, and an answer that is whole or a stream. */
export type Relay = {
  /** Answers a call, and records it as one span however it ends. @throws ServiceError `unavailable` when it cannot. */
  answer(operation: RelayOperation, call: RelayCall): Promise<void>;
  /** Records a call whose body was refused. @throws ServiceError `unavailable` when it cannot. */
  refuse(operation: RelayOperation, call: UnreadCall, error: ServiceError): Promise<OutgoingHttpHeaders>;
};

export function createRelay(deps: RelayDeps): Relay {
  return {
    answer: (operation, call) =>
      deps.recorder.during(call.origin.organization_id, () => new RelayRun(deps, operation, call).run()),
    refuse: ({ logType }, call, error) => recordRefusal(deps.recorder, logType, call, error),
  };
}
