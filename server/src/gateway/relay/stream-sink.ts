import type { IncomingHttpHeaders } from "node:http";
import { createSseSplitter, plainBlock, SseBlockTooLong, type SseEvent } from "../../lib/sse.ts";
import { limits } from "../../limits.ts";
import type { Exchange } from "../exchange.ts";
import type { UpstreamProblem } from "../providers/provider.ts";
import type { RelayStream } from "./relay.ts";
import { WholeSink, type WholeEnd } from "./whole-exchange.ts";

export type StreamSinkParts = {
  /** Whole events as they came. `hasContent`: the caller may have them. */
  onEvents(bytes: Buffer, hasContent: boolean): void;
  /** What goes on of an event; the event itself where absent. */
  rewrite?: ((event: SseEvent) => Buffer) | undefined;
  /** Told of the exchange, to pause it while the caller is slow. */
  attach(exchange: Exchange): void;
};

/** Reads an answer that should be a stream; one that is none is read whole. */
export class StreamSink extends WholeSink {
  readonly #stream: RelayStream;
  readonly #parts: StreamSinkParts;
  readonly #splitter = createSseSplitter(limits.upstreamEventBytes);
  #isStream = false;
  #hasContent = false;
  #isOver = false;

  constructor(end: (how: WholeEnd) => void, stream: RelayStream, parts: StreamSinkParts) {
    super(end);
    this.#stream = stream;
    this.#parts = parts;
  }

  override onHead(status: number, headers: IncomingHttpHeaders): void {
    super.onHead(status, headers);
    this.#isStream = status >= 200 && status < 300 && /^text\/event-stream\b/i.test(headers["content-type"] ?? "");
    if (this.exchange !== undefined) this.#parts.attach(this.exchange);
  }

  override onData(bytes: Buffer): void {
    if (!this.#isStream) return super.onData(bytes);
    try {
      for (const event of this.#splitter.push(bytes)) this.#take(event);
    } catch (error) {
      if (!(error instanceof SseBlockTooLong)) throw error;
      this.exchange?.abort();
      this.onFailure({ kind: "fault", status: 200, message: "An event of the provider's stream is too long." });
    }
    return undefined;
  }

  override onEnd(): void {
    if (!this.#isStream) return super.onEnd();
    const last = this.#splitter.end();
    if (last !== undefined) this.#take(last);
    return this.onFailure({
      kind: "fault",
      status: 200,
      message: "The provider's stream ended before the answer was complete.",
    });
  }

  override onFailure(problem: UpstreamProblem): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.end({ kind: "problem", problem, hasContent: this.#hasContent });
  }

  #take(event: Parameters<RelayStream["take"]>[0]): void {
    // Keep-alives of the provider's are none of the caller's business: it gets its own.
    if (this.#isOver || event.data === undefined) return;
    const { hasContent = false, isDone = false, problem } = this.#stream.take(event);
    if (problem !== undefined) {
      this.exchange?.abort();
      this.onFailure(problem);
      return;
    }
    if (hasContent) this.exchange?.flows();
    if (hasContent || isDone) this.#hasContent = true;
    this.#parts.onEvents(this.#parts.rewrite?.(event) ?? plainBlock(event.raw), this.#hasContent);
    if (!isDone) return;
    this.#isOver = true;
    this.exchange?.finish(limits.upstreamTrailMs);
    this.end({ kind: "streamed" });
  }
}
