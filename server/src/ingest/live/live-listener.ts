import { ingestLimits } from "../limits.ts";
import type { LiveMetrics } from "../../telemetry/live-metrics.ts";

/** The output of a stream, such as an HTTP response. */
export type LiveSink = {
  write(data: Uint8Array | string): boolean;
  end(): unknown;
  destroy(): unknown;
  once(event: "drain" | "close", listener: () => void): unknown;
};

/** One event: its wire text, shared by all listeners, and the key of its span. */
export type LiveEvent = { key: string; frame: Buffer };

/**
 * One open stream. Buffers unread events up to `ingestLimits.liveQueuedBytes`; beyond it, events are skipped and the
 * reader gets their number.
 */
export class LiveListener {
  readonly #sink: LiveSink;
  readonly #metrics: Pick<LiveMetrics, "skipped">;
  /** Keys of events that were read back: the feed may send them again. */
  readonly #had = new Set<string>();
  #queue: LiveEvent[] = [];
  #queuedBytes = 0;
  /** Null if the number is unknown. */
  #skipped: number | null = 0;
  #behindSinceMs: number | undefined;
  #isReadingBack: boolean;
  #wake: (() => void) | undefined;
  isClosed = false;

  constructor(
    sink: LiveSink,
    { isReadingBack, metrics }: { isReadingBack: boolean; metrics: Pick<LiveMetrics, "skipped"> },
  ) {
    this.#sink = sink;
    this.#metrics = metrics;
    this.#isReadingBack = isReadingBack;
  }

  get isStalled(): boolean {
    return this.#behindSinceMs !== undefined && performance.now() - this.#behindSinceMs > ingestLimits.liveStalledMs;
  }

  /** @param together the joined frames of the events, shared by all listeners that can take them immediately */
  push(events: readonly LiveEvent[], together: Buffer): void {
    const isAtOnce = !this.#mustWait && together.byteLength <= ingestLimits.liveQueuedBytes;
    if (isAtOnce && !this.isClosed && !events.some(({ key }) => this.#had.has(key))) this.#write(together);
    else for (const event of events) this.#push(event);
  }

  #push(event: LiveEvent): void {
    if (this.isClosed || this.#had.has(event.key)) return;
    if (!this.#mustWait) this.#write(event.frame);
    else if (this.#skipped !== 0 || this.#queuedBytes + event.frame.byteLength > ingestLimits.liveQueuedBytes)
      this.skip(1);
    else {
      this.#queue.push(event);
      this.#queuedBytes += event.frame.byteLength;
    }
  }

  /** @param count null if unknown */
  skip(count: number | null): void {
    if (count !== null) this.#metrics.skipped.inc(count);
    this.#skipped = count === null || this.#skipped === null ? null : this.#skipped + count;
    this.#flush();
  }

  /** Sends an event from before the feed; resolves when the reader has room for the next. */
  async readBack({ key, frame }: LiveEvent): Promise<void> {
    this.#had.add(key);
    if (this.isClosed) return;
    this.#write(frame);
    while (this.#isBehind && !this.isClosed) await new Promise<void>((resolve) => (this.#wake = resolve));
  }

  /** From now on the listener gets the events of the feed. */
  follow(): void {
    this.#isReadingBack = false;
    this.#queue = this.#queue.filter(({ key }) => !this.#had.has(key));
    this.#queuedBytes = this.#queue.reduce((bytes, { frame }) => bytes + frame.byteLength, 0);
    this.#flush();
  }

  send(text: string): void {
    if (!this.#isBehind && !this.isClosed) this.#write(text);
  }

  /** @param cursor the place after everything that was pushed */
  beat(cursor: string | undefined): void {
    const isCaughtUp = cursor !== undefined && !this.#isReadingBack && this.#queue.length === 0 && this.#skipped === 0;
    this.send(isCaughtUp ? `: still here\nid: ${cursor}\n\n` : ": still here\n\n");
  }

  close(): void {
    this.isClosed = true;
    this.#queue = [];
    this.#wake?.();
  }

  get #isBehind(): boolean {
    return this.#behindSinceMs !== undefined;
  }

  get #mustWait(): boolean {
    return this.#isBehind || this.#isReadingBack;
  }

  #write(data: Uint8Array | string): void {
    if (this.#sink.write(data)) return;
    this.#behindSinceMs = performance.now();
    this.#sink.once("drain", () => {
      this.#behindSinceMs = undefined;
      this.#wake?.();
      this.#flush();
    });
  }

  #flush(): void {
    while (!this.#mustWait && !this.isClosed) {
      const next = this.#queue.shift();
      if (next === undefined) break;
      this.#queuedBytes -= next.frame.byteLength;
      this.#write(next.frame);
    }
    if (this.#mustWait || this.isClosed || this.#skipped === 0) return;
    const skipped = this.#skipped;
    this.#skipped = 0;
    this.#write(`event: skipped\ndata: ${JSON.stringify({ count: skipped })}\n\n`);
  }
}
