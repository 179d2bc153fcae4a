import { ServiceError } from "../../domain/errors.ts";
import { FairShare, type WatchLimits } from "../../lib/fair-share.ts";
import { ingestLimits } from "../limits.ts";
import type { LiveMetrics } from "../../telemetry/live-metrics.ts";
import { livePlaceAt, writeLiveCursor, type LiveCursor } from "./live-cursor.ts";
import { LiveFeed, type LiveFeedDeps, type LiveQuery } from "./live-feed.ts";
import { LiveListener, type LiveSink } from "./live-listener.ts";

export type LiveRequest = LiveQuery & {
  /** The same for streams with the same filter. */
  name: string;
  cursor: LiveCursor | undefined;
  /** Whether its credential may still read the stream. */
  isAllowed(): Promise<boolean>;
  signal: AbortSignal;
};

/** Streams of spans as they become readable. */
export class LiveTail {
  readonly #deps: LiveFeedDeps & { metrics: LiveMetrics };
  readonly #feeds = new Map<string, LiveFeed>();
  readonly #places = new FairShare(ingestLimits.liveListeners);
  readonly #ends = new Set<() => void>();
  #isStopping = false;

  /** @param metrics may read the number of listeners */
  constructor(deps: LiveFeedDeps & { metrics: (listeners: () => number) => LiveMetrics; watchLimits: WatchLimits }) {
    this.#deps = { ...deps, metrics: deps.metrics(() => this.#places.inUse) };
    deps.watchLimits({ liveListeners: this.#places });
  }

  /**
   * Streams until the client disconnects, its credential ends or the server stops.
   *
   * @param openSink begins the response, once there is a place
   * @throws ServiceError `unavailable` if there are too many listeners
   */
  listen(request: LiveRequest, openSink: () => LiveSink): void {
    const { organization_id: party } = request.selection.scope;
    if (this.#isStopping || !this.#places.tryAcquire(party, 1)) {
      this.#deps.metrics.refusals.inc();
      throw new ServiceError("unavailable", "Too many streams of the live tail are open. Close one, or try again.", {
        retryAfterS: 5,
      });
    }
    const sink = openSink();
    const { cursor } = request;
    const listener = new LiveListener(sink, { isReadingBack: cursor !== undefined, metrics: this.#deps.metrics });
    const feed = this.#join(request, listener);
    const end = (): void => {
      if (listener.isClosed) return;
      listener.close();
      for (const timer of timers) clearInterval(timer);
      this.#ends.delete(end);
      this.#places.release(party, 1);
      this.#leave(request.name, feed, listener);
      sink.end();
    };
    const timers = [
      setInterval(() => {
        if (listener.isStalled) {
          end();
          sink.destroy();
        } else listener.beat(feed.cursor);
      }, ingestLimits.liveHeartbeatMs),
      setInterval(() => void this.#check(request, end), ingestLimits.liveCredentialCheckMs),
    ];
    this.#ends.add(end);
    sink.once("close", end);
    request.signal.addEventListener("abort", end, { once: true });
    // A client that disconnects before the first event resumes from here.
    if (cursor === undefined) return listener.send(`id: ${writeLiveCursor(livePlaceAt(this.#deps.now()))}\n\n`);
    listener.send(": reading back\n\n");
    feed.readBack(listener, cursor).catch((error: unknown) => {
      // The client reconnects with the cursor that it has.
      if (!listener.isClosed) this.#deps.logger.warn({ err: error }, "the live tail could not be read back");
      end();
    });
  }

  /** Ends all streams; clients resume on another node with their cursor. */
  stop(): void {
    this.#isStopping = true;
    for (const end of this.#ends) end();
  }

  #join(request: LiveRequest, listener: LiveListener): LiveFeed {
    const known = this.#feeds.get(request.name);
    const feed = known ?? new LiveFeed(this.#deps, request);
    feed.listeners.add(listener);
    if (known === undefined) {
      this.#feeds.set(request.name, feed);
      void feed.run();
    }
    return feed;
  }

  #leave(name: string, feed: LiveFeed, listener: LiveListener): void {
    feed.listeners.delete(listener);
    if (feed.listeners.size > 0) return;
    feed.stop();
    this.#feeds.delete(name);
  }

  async #check(request: LiveRequest, end: () => void): Promise<void> {
    try {
      if (!(await request.isAllowed())) end();
    } catch (error) {
      this.#deps.logger.warn({ err: error }, "the credential of a live tail could not be checked; retrying");
    }
  }
}
