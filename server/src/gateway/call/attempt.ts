import type { IncomingHttpHeaders } from "node:http";
import type { Pools } from "../../outgoing/pools.ts";
import { gatewayLimits } from "../limits.ts";
import { readProblem } from "../providers/openai/read-reply.ts";
import { BadReply, type UpstreamProblem } from "../providers/provider.ts";
import type { Attempt, PlanStep } from "../routing/plan.ts";
import type { StreamSink, StreamSource } from "../stream/stream-source.ts";
import { errorOfProblem } from "./client-answer.ts";
import { Exchange, type ExchangeSink, type OutgoingCall, type UpstreamTimeouts } from "./exchange.ts";
import type { AnswerReader, CompleteReply } from "./operation.ts";

/** How one attempt ended. */
export type AttemptEnd =
  | { kind: "reply"; reply: CompleteReply }
  /** A complete stream. */
  | { kind: "streamed" }
  /** `hasContent`: part of the stream was forwarded already, so that no other upstream may answer. */
  | { kind: "problem"; problem: UpstreamProblem; hasContent: boolean }
  | { kind: "aborted" };

/** The reader of a response, and the listeners of its progress. */
export type AttemptRun = {
  reader: AnswerReader;
  isStream: boolean;
  /** Whether a complete reply must be sent as a stream even if the API allows a complete response. */
  mustStream(): boolean;
  signal: AbortSignal;
  /** Called with the headers of a response that is forwarded to the caller. */
  onAnswer(headers: IncomingHttpHeaders): void;
  /** Called with complete events of a stream. `hasContent`: they contain something that a caller could use. */
  onEvents(events: Buffer | string, hasContent: boolean): void;
  /** Receives the exchange, which is paused while the caller is slow. */
  attach(exchange: Exchange): void;
};

export type UpstreamParts = { pools: Pools; times: UpstreamTimeouts; isOperatorHost: boolean };

/** Sends one request to one upstream. Rejects only for faults of the gateway. */
export function sendToUpstream(call: OutgoingCall, run: AttemptRun, parts: UpstreamParts): Promise<AttemptEnd> {
  return new Promise((resolve, reject) => {
    const sink = new AnswerSink(run, resolve, reject);
    const exchange = new Exchange(sink, parts.times);
    sink.exchange = exchange;
    run.attach(exchange);
    if (run.signal.aborted) return resolve({ kind: "aborted" });
    run.signal.addEventListener("abort", sink.onAbort, { once: true });
    exchange.start(parts.pools, call, parts.isOperatorHost ? "operator" : "guarded");
    return undefined;
  });
}

/** Reads a reply that came from no upstream. */
export function readReply(reply: CompleteReply, run: AttemptRun): Promise<AttemptEnd> {
  return new Promise((resolve, reject) => {
    new AnswerSink(run, resolve, reject).accept(reply);
  });
}

/** Reads the response of one exchange: a stream, a complete reply or an error. */
class AnswerSink implements ExchangeSink, StreamSink {
  exchange: Exchange | undefined;
  readonly #run: AttemptRun;
  readonly #resolve: (end: AttemptEnd) => void;
  readonly #reject: (error: unknown) => void;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #source: StreamSource | undefined;
  readonly #reply = new BufferedReply();
  #hasContent = false;
  #isOver = false;

  constructor(run: AttemptRun, resolve: (end: AttemptEnd) => void, reject: (error: unknown) => void) {
    this.#run = run;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  readonly onAbort = (): void => {
    this.exchange?.abort();
    this.#end({ kind: "aborted" });
  };

  onHead(status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#headers = headers;
    const { isStream, reader } = this.#run;
    if (!isStream || !isSuccess(status) || !(reader.isStream ?? isNoJson)(headers)) return;
    this.#run.onAnswer(headers);
    this.#source = reader.stream?.(this);
  }

  onData(bytes: Buffer): void {
    if (this.#isOver) return;
    try {
      if (this.#source === undefined) this.#buffer(bytes);
      else this.#source.push(bytes);
    } catch (error) {
      this.#onThrown(error);
    }
  }

  onEnd(): void {
    if (this.#isOver) return;
    const status = this.#status;
    if (this.#source !== undefined) return this.#endStream(this.#source);
    if (isSuccess(status)) return this.accept({ headers: this.#headers, bytes: this.#reply.read() });
    if (status >= 300 && status < 400)
      return this.onFailure({ kind: "fault", status, message: "The provider answered with a redirect." });
    return this.onFailure((this.#run.reader.problem ?? readProblem)(status, this.#headers, this.#reply.read()));
  }

  onFailure(problem: UpstreamProblem): void {
    this.#end({ kind: "problem", problem, hasContent: this.#hasContent });
  }

  onEvents(events: Buffer | string, hasContent: boolean): void {
    if (hasContent && !this.#hasContent) {
      this.#hasContent = true;
      this.exchange?.markStarted();
    }
    return this.#run.onEvents(events, hasContent);
  }

  onDone(): void {
    this.exchange?.finish(gatewayLimits.upstreamTrailMs);
    this.#end({ kind: "streamed" });
  }

  onProblem(problem: UpstreamProblem): void {
    this.exchange?.abort();
    this.onFailure(problem);
  }

  /** Takes a complete reply: sends it as a stream if the caller requested one. */
  accept(reply: CompleteReply): void {
    const { reader, isStream } = this.#run;
    try {
      const problem = reader.readComplete(reply);
      if (problem !== undefined) return this.onFailure(problem);
      this.#run.onAnswer(reply.headers);
      if (isStream && (reader.mayAnswerUnstreamed !== true || this.#run.mustStream())) reader.asStream?.(reply, this);
      else this.#end({ kind: "reply", reply });
    } catch (error) {
      this.#onThrown(error);
    }
    return undefined;
  }

  #endStream(source: StreamSource): void {
    try {
      source.end();
    } catch (error) {
      this.#onThrown(error);
    }
  }

  #buffer(bytes: Buffer): void {
    const problem = this.#reply.add(bytes, this.#status);
    if (this.#reply.hasContent) this.exchange?.markStarted();
    if (problem !== undefined) this.onProblem(problem);
  }

  /** A `BadReply` is a fault of the upstream; any other error is a bug of the gateway. */
  #onThrown(error: unknown): void {
    this.exchange?.abort();
    if (isStackOverflow(error)) error = new BadReply("The provider's reply nests too deep.");
    if (error instanceof BadReply) {
      const { message, usage } = error;
      const status = this.#status || 200;
      return this.onFailure({ kind: "fault", status, message, code: "bad_reply", ...(usage && { usage }) });
    }
    this.#stop();
    this.#reject(error);
    return undefined;
  }

  #end(end: AttemptEnd): void {
    if (this.#isOver) return;
    this.#stop();
    this.#resolve(end);
  }

  #stop(): void {
    this.#isOver = true;
    this.#run.signal.removeEventListener("abort", this.onAbort);
  }
}

/** `JSON.parse` accepts any depth, but `JSON.stringify` overflows the stack on some of what it parsed. */
function isStackOverflow(error: unknown): boolean {
  return error instanceof RangeError && error.message === "Maximum call stack size exceeded";
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

function isNoJson(headers: IncomingHttpHeaders): boolean {
  return !/^application\/json\b/i.test(headers["content-type"] ?? "");
}

const blanks: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** Buffers an upstream's complete response, up to its size limit. */
export class BufferedReply {
  #chunks: Buffer[] = [];
  #length = 0;
  #hasContent = false;

  /** Returns a problem once the response is too large; the buffered bytes are then dropped. */
  add(bytes: Buffer, status: number): UpstreamProblem | undefined {
    this.#length += bytes.length;
    this.#hasContent ||= bytes.some((byte) => !blanks.has(byte));
    if (this.#length <= gatewayLimits.upstreamReplyBytes) {
      this.#chunks.push(bytes);
      return undefined;
    }
    this.#chunks = [];
    return { kind: "fault", status, message: "The provider's response is too large." };
  }

  /** Whether more than whitespace arrived: servers send blank lines to keep a connection alive. */
  get hasContent(): boolean {
    return this.#hasContent;
  }

  /** Most responses arrive in one piece. */
  read(): Buffer {
    const [first] = this.#chunks;
    return first !== undefined && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
  }
}

/** The outcome of one attempt, as the span lists it. `status_code` is the upstream's own, null if it sent none. */
export type AttemptNote = {
  provider: string;
  model: string;
  status_code: number | null;
  /** Safe to show to a caller: never an address or a credential. */
  error_message: string | null;
  /** Seconds, without the wait before the attempt. */
  latency: number;
  /** USD, if the attempt failed and is charged for. */
  cost?: number;
};

/**
 * Notes the attempts of a call, starting with the first that fails: a call that succeeds at once has no notes. The last
 * place is reserved for the attempt that ended the call.
 */
export function noteAttempt(
  notes: AttemptNote[],
  { target: { provider, model } }: Attempt,
  outcome: UpstreamProblem | "success" | "aborted",
  ms: number,
  costUsd?: number,
): void {
  if (typeof outcome === "string" && notes.length === 0) return;
  if (notes.length >= gatewayLimits.recordedAttempts) notes.pop();
  notes.push({
    provider,
    model,
    ...resultOf(outcome),
    latency: Math.round(ms) / 1e3,
    ...(costUsd !== undefined && { cost: costUsd }),
  });
}

function resultOf(
  outcome: UpstreamProblem | "success" | "aborted",
): Pick<AttemptNote, "status_code" | "error_message"> {
  if (outcome === "success") return { status_code: 200, error_message: null };
  if (outcome === "aborted")
    return { status_code: null, error_message: "The call was aborted before the response was complete." };
  const { message } = errorOfProblem(outcome);
  const status = outcome.isUnsent === true ? null : outcome.status || null;
  return { status_code: status, error_message: message.slice(0, gatewayLimits.recordedAttemptChars) };
}

/** The notes without the upstream's messages, which may quote content. */
export function withoutMessages(notes: readonly AttemptNote[]): AttemptNote[] {
  return notes.map((note) => ({ ...note, error_message: note.error_message === null ? null : "The attempt failed." }));
}

/**
 * The timeouts of one attempt. It leaves time for the models that may still be tried, within the deadlines of the route
 * and of the call. A stream gets all remaining total time: once it has started, no other model can answer.
 * @param leftMs the time left for the whole call
 */
export function timesOf(
  timeouts: UpstreamTimeouts,
  leftMs: number,
  { furtherModels, roomMs }: Pick<PlanStep, "furtherModels" | "roomMs">,
  isStream: boolean,
): UpstreamTimeouts {
  const remainingMs = Math.max(1, leftMs);
  const forOthersMs = Math.min(
    timeouts.firstByteMs * furtherModels,
    (remainingMs * furtherModels) / (furtherModels + 1),
  );
  const ownMs = Math.max(1, remainingMs - forOthersMs);
  return {
    firstByteMs: Math.min(timeouts.firstByteMs, ownMs, Math.max(1, roomMs)),
    idleMs: timeouts.idleMs,
    totalMs: isStream ? remainingMs : ownMs,
  };
}
