import type { IncomingHttpHeaders } from "node:http";
import type { Pools } from "../outgoing/pools.ts";
import { ServiceError } from "../domain/errors.ts";
import { isObject, parseJson } from "../lib/json.ts";
import { limits } from "../limits.ts";
import { blockOf, blockOfStream } from "./blocked-answer.ts";
import type { ChatDigest } from "./chat-digest.ts";
import { Exchange, type ExchangeSink, type UpstreamTimeouts } from "./exchange.ts";
import { GatheredReply } from "./gathered-reply.ts";
import { readErrorWithin, readProblem } from "./providers/openai/problem.ts";
import { usageOf } from "./providers/openai/usage.ts";
import { openaiCall } from "./providers/openai/request.ts";
import {
  BadReply,
  type CallFacts,
  type Target,
  type UpstreamCall,
  type UpstreamProblem,
} from "./providers/provider.ts";
import { understandProblem } from "./providers/shared/understand-problem.ts";
import type { ChatAsk } from "./read-chat-request.ts";
import type { Attempt } from "./routing/plan.ts";
import {
  createOpenaiSource,
  createTranslatedSource,
  streamCompletion,
  type StreamSink,
  type StreamSource,
} from "./stream-source.ts";

/** How one attempt ended. */
export type AttemptEnd =
  /** A whole reply: its bytes as they came where the upstream is OpenAI-shaped, and what is in it. */
  | { kind: "reply"; bytes: Buffer | undefined; completion: Record<string, unknown> }
  /** A stream that is complete. */
  | { kind: "streamed" }
  /** `hasContent`: some of the stream was sent on already, so that no other upstream may answer. */
  | { kind: "problem"; problem: UpstreamProblem; hasContent: boolean }
  | { kind: "gone" };

export type AttemptDeps = {
  pools: Pools;
  timeouts: UpstreamTimeouts;
  /** After how many milliseconds of silence a stream to a caller gets a comment. */
  commentMs: number;
  now: () => number;
};

/** One attempt of a call, with all that it writes to: the stream's reader and the digest. */
export type AttemptRun = {
  ask: ChatAsk;
  attempt: Attempt;
  /** Asked for where an answer has to be made up from another wire's. */
  facts: () => CallFacts;
  signal: AbortSignal;
  times: UpstreamTimeouts;
  /** Whether the usage is asked for: not of upstreams that are known to refuse the question. */
  asksUsage: boolean;
  /** Whether another model may be asked: an answer that a filter held back is a problem then, not an answer. */
  mayAskOther(): boolean;
  mapUsage: ((usage: Record<string, unknown>) => Record<string, unknown>) | undefined;
  /** Told of the events of a stream; `attach` gives it the exchange to pause when the caller is slow. */
  onEvents(events: Buffer | string, hasContent: boolean): void;
  attach(exchange: Exchange): void;
  /** That of a stream which begins. */
  newDigest(): ChatDigest;
  onAdjusted(params: readonly string[]): void;
};

/** Makes one call of one upstream. Never rejects but for faults of ours. */
export function runAttempt(deps: AttemptDeps, run: AttemptRun): Promise<AttemptEnd> {
  let call: UpstreamCall;
  try {
    call = callOf(run, deps.now());
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const [param] = Object.keys(error.errors ?? {});
    const problem: UpstreamProblem = {
      kind: "request",
      status: 400,
      message: error.message,
      ...(param && { param }),
      isUnsent: true,
    };
    return Promise.resolve({ kind: "problem", problem, hasContent: false });
  }
  run.onAdjusted(call.adjusted ?? []);
  return new Promise((resolve, reject) => {
    const reader = new ReplyReader(run, resolve, reject);
    const exchange = new Exchange(reader, run.times);
    reader.exchange = exchange;
    run.attach(exchange);
    if (run.signal.aborted) return resolve({ kind: "gone" });
    run.signal.addEventListener("abort", reader.onGone, { once: true });
    exchange.start(deps.pools, call, run.attempt.isOperatorHost ? "operator" : "guarded");
    return undefined;
  });
}

function callOf({ ask, attempt, asksUsage }: AttemptRun, nowMs: number): UpstreamCall {
  const { target, translator, quirks } = attempt;
  if (translator === undefined) return openaiCall(ask.body, target, { quirks, operation: "chat", asksUsage });
  const { messages, body } = ask;
  const { anthropic_beta: given } = body.forProvider;
  const betas = [
    ...new Set([...(Array.isArray(given) ? (given as unknown[]) : given ? [given] : []), ...ask.anthropicBetas]),
  ];
  const beta = isClaude(target) && betas.length > 0 ? { anthropic_beta: betas } : {};
  return translator.request({ ...body.forProvider, ...beta, model: target.model, messages }, target, nowMs);
}

function isClaude({ provider, model }: Target): boolean {
  return provider === "anthropic" || /claude/.test(model);
}

/** Reads the answer of one exchange, whatever it turns out to be: a stream, a whole reply or an error. */
class ReplyReader implements ExchangeSink, StreamSink {
  exchange: Exchange | undefined;
  readonly #run: AttemptRun;
  readonly #resolve: (end: AttemptEnd) => void;
  readonly #reject: (error: unknown) => void;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #source: StreamSource | undefined;
  #digest: ChatDigest | undefined;
  readonly #reply = new GatheredReply();
  #hasContent = false;
  #isOver = false;

  constructor(run: AttemptRun, resolve: (end: AttemptEnd) => void, reject: (error: unknown) => void) {
    this.#run = run;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  readonly onGone = (): void => {
    this.exchange?.abort();
    this.#end({ kind: "gone" });
  };

  onHead(status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#headers = headers;
    const isJson = /^application\/json\b/i.test(headers["content-type"] ?? "");
    if (this.#run.ask.isStream && isSuccess(status) && !isJson) {
      const { translator } = this.#run.attempt;
      const options = this.#sourceOptions();
      this.#source = translator
        ? createTranslatedSource(translator.stream(this.#run.facts()), options)
        : createOpenaiSource(options);
    }
  }

  onData(bytes: Buffer): void {
    if (this.#isOver) return;
    try {
      if (this.#source === undefined) this.#gather(bytes);
      else this.#source.push(bytes);
    } catch (error) {
      this.#onThrown(error);
    }
  }

  onEnd(): void {
    if (this.#isOver) return;
    try {
      if (this.#source === undefined) this.#readWhole();
      else this.#source.end();
    } catch (error) {
      this.#onThrown(error);
    }
  }

  onFailure(problem: UpstreamProblem): void {
    this.#fail(problem);
  }

  onEvents(events: Buffer | string, hasContent: boolean): void {
    const isFirst = hasContent && !this.#hasContent;
    if (isFirst && this.#block() !== undefined) return this.#run.onEvents(events, false);
    if (isFirst) {
      this.#hasContent = true;
      this.exchange?.flows();
    }
    return this.#run.onEvents(events, hasContent);
  }

  onDone(): void {
    this.exchange?.finish(limits.upstreamTrailMs);
    const block = this.#hasContent ? undefined : this.#block();
    if (block !== undefined) return this.#fail(block);
    return this.#end({ kind: "streamed" });
  }

  /** A stream that a filter held back, of which the caller has seen nothing yet. */
  #block(): UpstreamProblem | undefined {
    return this.#digest && this.#run.mayAskOther() ? blockOfStream(this.#digest) : undefined;
  }

  onProblem(problem: UpstreamProblem): void {
    this.exchange?.abort();
    this.#fail(problem);
  }

  #sourceOptions(): Parameters<typeof createOpenaiSource>[0] {
    const { ask, mapUsage } = this.#run;
    const digest = (this.#digest = this.#run.newDigest());
    return { digest, sink: this, wantsUsage: ask.wantsUsage, mapUsage };
  }

  #gather(bytes: Buffer): void {
    const problem = this.#reply.add(bytes, this.#status);
    if (this.#reply.hasContent) this.exchange?.begun();
    if (problem === undefined) return;
    this.exchange?.abort();
    this.#fail(problem);
  }

  #readWhole(): void {
    const bytes = this.#reply.read();
    const { attempt, facts } = this.#run;
    if (!isSuccess(this.#status)) return this.#fail(this.#problemOf(bytes));
    if (attempt.translator !== undefined) {
      return this.#replied(undefined, { ...attempt.translator.reply(bytes, facts()) });
    }
    const parsed = parseJson(bytes);
    if (!parsed.ok || !isObject(parsed.value)) throw new BadReply("The provider's answer is not a JSON object.");
    const problem = readErrorWithin(parsed.value);
    if (problem !== undefined) return this.#fail(problem);
    const { choices } = parsed.value;
    if (!Array.isArray(choices)) throw new BadReply("The provider's answer is not a chat completion.");
    if (choices.length === 0) throw new BadReply("The provider's answer holds no choice.", usageOf(parsed.value));
    return this.#replied(bytes, parsed.value);
  }

  #replied(bytes: Buffer | undefined, completion: Record<string, unknown>): void {
    const { ask } = this.#run;
    const block = this.#run.mayAskOther() ? blockOf(completion) : undefined;
    if (block !== undefined) return this.#fail(block);
    if (!ask.isStream) return this.#end({ kind: "reply", bytes, completion });
    // A whole completion although a stream was asked for: the caller gets a stream.
    return streamCompletion(completion, this.#sourceOptions());
  }

  #problemOf(bytes: Buffer): UpstreamProblem {
    const { translator } = this.#run.attempt;
    if (this.#status >= 300 && this.#status < 400) {
      return { kind: "fault", status: this.#status, message: "The provider answered with a redirect." };
    }
    if (translator !== undefined) return translator.problem(this.#status, this.#headers, bytes);
    return readProblem(this.#status, this.#headers, bytes);
  }

  /** What a translator throws of a reply is a fault of the upstream, all else one of ours. */
  #onThrown(error: unknown): void {
    this.exchange?.abort();
    if (error instanceof BadReply) {
      const { message, usage } = error;
      this.#fail({ kind: "fault", status: this.#status, message, code: "bad_reply", ...(usage && { usage }) });
      return;
    }
    this.#isOver = true;
    this.#reject(error);
  }

  #fail(problem: UpstreamProblem): void {
    const understood = understandProblem(problem, this.#run.attempt.target.credential);
    this.#end({ kind: "problem", problem: understood, hasContent: this.#hasContent });
  }

  #end(end: AttemptEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#run.signal.removeEventListener("abort", this.onGone);
    this.#resolve(end);
  }
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}
