import type { OutgoingHttpHeaders } from "node:http";
import type { ServiceError } from "../../domain/errors.ts";
import type { SseEvent } from "../../lib/sse.ts";
import type { CallLedger } from "../call-ledger.ts";
import type { ChatCall, ChatDeps } from "../chat.ts";
import type { OutgoingCall } from "../exchange.ts";
import type { UpstreamProblem } from "../providers/provider.ts";
import { recordRefusal, type UnreadCall } from "../record-refusal.ts";
import type { Operation } from "../providers/quirks.ts";
import type { Attempt } from "../routing/plan.ts";
import type { ServiceParams } from "../service-params.ts";
import type { KeyBond } from "../responses/key-bonds.ts";
import { RelayRun } from "./relay-run.ts";
import type { WholeReply } from "./whole-exchange.ts";

/** What a caller wants of an operation that only OpenAI-shaped providers have. */
export type RelayAsk = {
  params: ServiceParams;
  model: string;
  betas: ReadonlySet<string>;
  routeProvider: string | undefined;
  /** The caller's members for the provider, to be recorded. */
  asked: Record<string, unknown>;
  /** The key that it is bound to. */
  bond?: KeyBond | undefined;
  /** Marks what the provider keeps for the key that answered. */
  bind?: (bond: string) => KeyBinding;
  /** What is transcribed. */
  recording?: Buffer;
  /** The call to one upstream. The same ask is put to several, if need be. */
  call(attempt: Attempt): OutgoingCall;
  /** Takes what a reply says into the ledger, or tells why it is none. @throws BadReply */
  read(reply: WholeReply, ledger: CallLedger): UpstreamProblem | undefined;
  /** Where a stream is wanted: reads the events of one upstream's answer. */
  stream?: (ledger: CallLedger) => RelayStream;
  /** The events that say the same as a whole reply, for a stream whose head is out; there wherever `stream` is. */
  events?: (reply: WholeReply) => string;
  /** The answer to the caller. @param breakdown where one was asked for */
  answer(reply: WholeReply, breakdown: Record<string, unknown> | undefined): RelayAnswer;
};

/** Looks at the events of a stream, which go on to the caller as they are. */
export type RelayStream = {
  /** What an event means: content that commits the call to this upstream, the end, or a failure. */
  take(event: SseEvent): { hasContent?: boolean; isDone?: boolean; problem?: UpstreamProblem };
};

export type KeyBinding = { reply: (reply: WholeReply) => WholeReply; event: (event: SseEvent) => Buffer };

export type RelayAnswer = { body: Buffer | string; headers: OutgoingHttpHeaders };

export type RelayDeps = Omit<ChatDeps, "usageRefusals" | "drafting" | "cache">;

export type RelayOperation = {
  operation: Operation;
  logType: CallLedger["logType"];
  /** Reads the caller's request, its service parameters into the ledger, too. @throws ServiceError */
  read(call: ChatCall, ledger: CallLedger): Promise<RelayAsk> | RelayAsk;
};

/** Operations that pass from an OpenAI-shaped provider to the caller as they are: one request, one whole answer. */
export type Relay = {
  /** Answers a call, and records it as one span however it ends. @throws ServiceError `unavailable` when it cannot. */
  answer(operation: RelayOperation, call: ChatCall): Promise<void>;
  /** Records a call whose body was refused. @throws ServiceError `unavailable` when it cannot. */
  refuse(operation: RelayOperation, call: UnreadCall, error: ServiceError): Promise<OutgoingHttpHeaders>;
};

export function createRelay(deps: RelayDeps): Relay {
  return {
    answer: (operation, call) => deps.recorder.during(() => new RelayRun(deps, operation, call).run()),
    refuse: ({ logType }, call, error) => recordRefusal(deps.recorder, logType, call, error),
  };
}
