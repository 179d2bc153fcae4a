import { createSseSplitter, plainBlock, SseBlockTooLong, type SseEvent } from "../../lib/sse.ts";
import { gatewayLimits } from "../limits.ts";
import { EventRun } from "./event-run.ts";
import type { UpstreamProblem } from "../providers/provider.ts";
import type { StreamSink, StreamSource } from "./stream-source.ts";

/** Inspects the events of a stream that is forwarded unchanged. */
export type EventReader = {
  /** What an event means: content that commits the call to this upstream, the end, or a failure. */
  take(event: SseEvent): { hasContent?: boolean; isDone?: boolean; problem?: UpstreamProblem };
  /**
   * Whether the event's name alone shows that it is neither end nor failure: such an event may be forwarded before it
   * is read.
   */
  isMiddle?(event: SseEvent): boolean;
  /** Forwards every byte, including comments and line endings. */
  keepsAll?: boolean;
  /** The stream may end without a final event. */
  mayJustEnd?: boolean;
  /** Replaces an event. Default: the event is forwarded as it is. */
  rewrite?: ((event: SseEvent) => Buffer) | undefined;
};

/** A stream whose events are forwarded as received and read on the way. */
export function createEventSource(reader: EventReader, sink: StreamSink): StreamSource {
  return new EventSource(reader, sink);
}

/** Sends a complete response as equivalent events. */
export function feedEvents(events: string, sink: StreamSink): void {
  sink.onEvents(events, true);
  sink.onDone();
}

class EventSource implements StreamSource {
  readonly #reader: EventReader;
  readonly #sink: StreamSink;
  readonly #splitter = createSseSplitter(gatewayLimits.upstreamEventBytes);
  readonly #run: EventRun;
  #hasContent = false;
  #isOver = false;

  constructor(reader: EventReader, sink: StreamSink) {
    this.#reader = reader;
    this.#sink = sink;
    this.#run = new EventRun((events, hasContent) => sink.onEvents(events, hasContent));
  }

  push(bytes: Buffer): void {
    try {
      this.#takeAll(this.#splitter.push(bytes));
    } catch (error) {
      if (!(error instanceof SseBlockTooLong)) throw error;
      this.#fail({ kind: "fault", status: 200, message: "An event of the provider's stream is too long." });
    }
  }

  end(): void {
    const last = this.#splitter.end();
    if (last !== undefined) this.#take(last);
    if (this.#isOver) return;
    if (this.#reader.mayJustEnd === true) return this.#sink.onDone();
    const message = "The provider's stream ended before the response was complete.";
    this.#fail({ kind: "fault", status: 200, message, isInterrupted: true });
  }

  #fail(problem: UpstreamProblem): void {
    this.#isOver = true;
    this.#sink.onProblem(problem);
  }

  /** Once the caller has content, events that are not the end by their name are forwarded first and read afterwards. */
  #takeAll(events: readonly SseEvent[]): void {
    let ahead = 0;
    if (this.#hasContent && this.#reader.rewrite === undefined && !this.#isOver) {
      for (const event of events) {
        if (this.#reader.isMiddle?.(event) !== true) break;
        this.#run.add(event.raw, true);
        ahead += 1;
      }
      this.#run.flush();
    }
    for (const [index, event] of events.entries()) this.#take(event, index < ahead);
  }

  #take(event: SseEvent, isSent = false): void {
    const { keepsAll = false, rewrite } = this.#reader;
    if (this.#isOver) return;
    // The gateway sends its own keep-alives, so it drops the provider's, unless the reader passes every byte on.
    if (event.data === undefined) {
      if (keepsAll && !isSent) this.#sink.onEvents(event.raw, this.#hasContent);
      return;
    }
    const { hasContent = false, isDone = false, problem } = this.#reader.take(event);
    if (problem !== undefined) return this.#fail(problem);
    if (hasContent || isDone) this.#hasContent = true;
    if (!isSent) {
      const raw = keepsAll ? event.raw : plainBlock(event.raw);
      this.#sink.onEvents(rewrite?.(event) ?? raw, this.#hasContent);
    }
    if (!isDone) return;
    this.#isOver = true;
    this.#sink.onDone();
  }
}
