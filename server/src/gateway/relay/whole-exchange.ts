import type { IncomingHttpHeaders } from "node:http";
import type { AttemptDeps } from "../attempt.ts";
import { Exchange, type ExchangeSink, type OutgoingCall } from "../exchange.ts";
import { GatheredReply } from "../gathered-reply.ts";
import { readProblem } from "../providers/openai/problem.ts";
import type { UpstreamProblem } from "../providers/provider.ts";

/** A whole answer of an upstream, with a status of 2xx. */
export type WholeReply = { headers: IncomingHttpHeaders; bytes: Buffer };

/** What an answer with an error's status says; in OpenAI's form by default. */
export type ReadProblem = (status: number, headers: IncomingHttpHeaders, bytes: Buffer) => UpstreamProblem;

export type WholeEnd =
  | { kind: "reply"; reply: WholeReply }
  /** A stream that is complete. */
  | { kind: "streamed" }
  /** `hasContent`: some of a stream was sent on already, so that no other upstream may answer. */
  | { kind: "problem"; problem: UpstreamProblem; hasContent?: boolean }
  | { kind: "gone" };

/** Makes one call and reads its answer to the end: whole, within a bound, or by a sink of its own. Never rejects. */
export function exchangeWhole(
  deps: Pick<AttemptDeps, "pools" | "timeouts">,
  call: OutgoingCall,
  { isOperatorHost, signal }: { isOperatorHost: boolean; signal: AbortSignal },
  createSink: (end: (how: WholeEnd) => void) => WholeSink = (end) => new WholeSink(end),
): Promise<WholeEnd> {
  return new Promise((resolve) => {
    const end = (how: WholeEnd): void => {
      signal.removeEventListener("abort", onGone);
      resolve(how);
    };
    const sink = createSink(end);
    const exchange = new Exchange(sink, deps.timeouts);
    sink.exchange = exchange;
    const onGone = (): void => {
      exchange.abort();
      end({ kind: "gone" });
    };
    if (signal.aborted) return end({ kind: "gone" });
    signal.addEventListener("abort", onGone, { once: true });
    exchange.start(deps.pools, call, isOperatorHost ? "operator" : "guarded");
    return undefined;
  });
}

export class WholeSink implements ExchangeSink {
  protected readonly end: (end: WholeEnd) => void;
  readonly #readProblem: ReadProblem;
  readonly #reply = new GatheredReply();
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  exchange: Exchange | undefined;

  constructor(end: (end: WholeEnd) => void, read: ReadProblem = readProblem) {
    this.end = end;
    this.#readProblem = read;
  }

  onHead(status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#headers = headers;
  }

  onData(bytes: Buffer): void {
    const problem = this.#reply.add(bytes, this.#status);
    if (this.#reply.hasContent) this.exchange?.begun();
    if (problem === undefined) return;
    this.exchange?.abort();
    this.onFailure(problem);
  }

  onEnd(): void {
    const bytes = this.#reply.read();
    const status = this.#status;
    if (status >= 200 && status < 300) this.end({ kind: "reply", reply: { headers: this.#headers, bytes } });
    else if (status >= 300 && status < 400) {
      this.onFailure({ kind: "fault", status, message: "The provider answered with a redirect." });
    } else this.onFailure(this.#readProblem(status, this.#headers, bytes));
  }

  onFailure(problem: UpstreamProblem): void {
    this.end({ kind: "problem", problem });
  }
}
