import type { IncomingHttpHeaders } from "node:http";
import { createSseSplitter, plainBlock, SseBlockTooLong, type SseEvent } from "../../lib/sse.ts";
import { limits } from "../../limits.ts";
import { EventRun } from "../event-run.ts";
import type { Exchange } from "../exchange.ts";
import type { UpstreamProblem } from "../providers/provider.ts";
import type { RelayStream } from "./relay.ts";
import { WholeSink, type ReadProblem, type WholeEnd } from "./whole-exchange.ts";

export type StreamSinkParts = {
  readProblem?: ReadProblem | undefined;
  /** Whole events as they came. `hasContent`: the caller may have them. */
  onEvents(bytes: Buffer, hasContent: boolean): void;
  /** What goes on of an event; the event itself where absent. */
  rewrite?: ((event: SseEvent) => Buffer) | undefined;
  /** Told of the headers of a stream, before its events. */
  onStream(headers: IncomingHttpHeaders): void;
  /** Told of the exchange, to pause it while the caller is slow. */
  attach(exchange: Exchange): void;
};

/** Reads an answer that should be a stream; one that is none is read whole. */
export class StreamSink extends WholeSink {
  readonly #stream: RelayStream;
  readonly #parts: StreamSinkParts;
  readonly #splitter = createSseSplitter(limits.upstreamEventBytes);
  readonly #run: EventRun;
  #isStream = false;
  #hasContent = false;
  #isOver = false;

  constructor(end: (how: WholeEnd) => void, stream: RelayStream, parts: StreamSinkParts) {
    super(end, parts.readProblem);
    this.#stream = stream;
    this.#parts = parts;
    this.#run = new EventRun((events, hasContent) => parts.onEvents(events, hasContent));
  }

  override onHead(status: number, headers: IncomingHttpHeaders): void {
    super.onHead(status, headers);
    this.#isStream = status >= 200 && status < 300 && /^text\/event-stream\b/i.test(headers["content-type"] ?? "");
    if (this.#isStream) this.#parts.onStream(headers);
    if (this.exchange !== undefined) this.#parts.attach(this.exchange);
  }

  override onData(bytes: Buffer): void {
    if (!this.#isStream) return super.onData(bytes);
    try {
      this.#takeAll(this.#splitter.push(bytes));
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
    if (this.#stream.mayJustEnd === true && !this.#isOver) return this.end({ kind: "streamed" });
    return this.onFailure({
      kind: "fault",
      status: 200,
      message: "The provider's stream ended before the answer was complete.",
      isCut: true,
    });
  }

  override onFailure(problem: UpstreamProblem): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.end({ kind: "problem", problem, hasContent: this.#hasContent });
  }

  /** Once the caller has content, what is no end by its name goes on first, and is read while it is under way. */
  #takeAll(events: readonly SseEvent[]): void {
    let ahead = 0;
    if (this.#hasContent && this.#parts.rewrite === undefined && !this.#isOver) {
      for (const event of events) {
        if (this.#stream.isMiddle?.(event) !== true) break;
        this.#run.add(event.raw, true);
        ahead += 1;
      }
      this.#run.flush();
    }
    for (const [index, event] of events.entries()) this.#take(event, index < ahead);
  }

  #take(event: SseEvent, isSent = false): void {
    const { keepsAll = false } = this.#stream;
    if (this.#isOver) return;
    // Keep-alives of the provider's are none of the caller's business, which gets its own, where not every byte is.
    if (event.data === undefined) {
      if (keepsAll && !isSent) this.#parts.onEvents(event.raw, this.#hasContent);
      return;
    }
    const { hasContent = false, isDone = false, problem } = this.#stream.take(event);
    if (problem !== undefined) {
      this.exchange?.abort();
      this.onFailure(problem);
      return;
    }
    if (hasContent) this.exchange?.flows();
    if (hasContent || isDone) this.#hasContent = true;
    if (!isSent) {
      const raw = keepsAll ? event.raw : plainBlock(event.raw);
      this.#parts.onEvents(this.#parts.rewrite?.(event) ?? raw, this.#hasContent);
    }
    if (!isDone) return;
    this.#isOver = true;
    this.exchange?.finish(limits.upstreamTrailMs);
    this.end({ kind: "streamed" });
  }
}
