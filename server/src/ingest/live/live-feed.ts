import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { limits } from "../../limits.ts";
import type { ReceivedKey, ReceivedPlace } from "../../storage/spans/received-spans.ts";
import type { SpanSelection, SpanStore } from "../../storage/spans/span-store.ts";
import { livePlaceAt, writeLiveCursor } from "./live-cursor.ts";
import type { LiveEvent, LiveListener } from "./live-listener.ts";

/** What a stream is about. Streams that are about the same share the reading. */
export type LiveQuery = {
  selection: Pick<SpanSelection, "scope" | "filter">;
  /** The rows of these spans as JSON without line breaks, by unique_id; without those that are gone. */
  present(keys: readonly ReceivedKey[], signal: AbortSignal): Promise<ReadonlyMap<string, string>>;
};

export type LiveFeedDeps = { spans: Pick<SpanStore, "listReceived">; logger: Logger; now: () => number };

/**
 * Asks the span store every half second for what was received since, whichever node accepted it, and gives each span to all
 * listeners once. It looks again at the seconds before, for spans that were stored later than others received after them.
 */
export class LiveFeed {
  readonly listeners = new Set<LiveListener>();
  readonly #deps: LiveFeedDeps;
  readonly #query: LiveQuery;
  readonly #stopping = new AbortController();
  readonly #openedMs: number;
  /** Versions of spans that were given or are older than the feed, with their time of receipt. */
  readonly #seen = new Map<string, string>();
  #lastCursor = "";
  #checkedMs: number;
  #isSeeded = false;

  constructor(deps: LiveFeedDeps, query: LiveQuery) {
    this.#deps = deps;
    this.#query = query;
    this.#openedMs = this.#checkedMs = deps.now();
  }

  /** Until `stop`. Never rejects. */
  async run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const startedMs = performance.now();
      try {
        await this.#poll(signal);
      } catch (error) {
        if (signal.aborted) return;
        this.#deps.logger.warn({ err: error }, "the live tail could not read spans and tries again");
      }
      // At most half of the time is spent on it, however slow the store is.
      const tookMs = performance.now() - startedMs;
      const pauseMs = Math.max(limits.livePollMs - tookMs, Math.min(tookMs, limits.livePollMs));
      await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  stop(): void {
    this.#stopping.abort();
  }

  /** Gives a listener that joined what came since `cursor`, then lets it follow. */
  async readBack(listener: LiveListener, cursor: ReceivedPlace): Promise<void> {
    const { signal } = this.#stopping;
    const oldest = livePlaceAt(this.#deps.now() - limits.liveResumeMs);
    const isTooOld = cursor.received_at < oldest.received_at;
    const { keys, count } = await this.#list(isTooOld ? oldest : cursor, limits.liveResumeRows, signal);
    for (let start = 0; start < keys.length && !listener.isClosed; start += limits.liveChunkRows) {
      const events = await this.#events(keys.slice(start, start + limits.liveChunkRows), writeLiveCursor, signal);
      for (const event of events ?? []) await listener.readBack(event);
      if (events === undefined) listener.skip(Math.min(limits.liveChunkRows, keys.length - start));
    }
    if (isTooOld) listener.skip(null);
    else if (count > keys.length) listener.skip(count - keys.length);
    listener.follow();
  }

  async #poll(signal: AbortSignal): Promise<void> {
    const startedMs = this.#deps.now();
    const fromMs = Math.max(this.#checkedMs - limits.liveOverlapMs, startedMs - limits.liveResumeMs);
    const from = livePlaceAt(fromMs);
    const { keys, count } = await this.#list(from, limits.liveKeys, signal);
    const opened = livePlaceAt(this.#openedMs).received_at;
    const fresh = keys.filter((key) => !this.#seen.has(versionOf(key)));
    for (const key of fresh) this.#seen.set(versionOf(key), key.received_at);
    for (const [key, receivedAt] of this.#seen) if (receivedAt < from.received_at) this.#seen.delete(key);
    const news = this.#isSeeded ? fresh : fresh.filter(({ received_at }) => received_at >= opened);
    if (count > keys.length && fresh.length === keys.length) this.#skip(null);
    this.#isSeeded = true;
    this.#checkedMs = startedMs;
    await this.#give(news, signal);
  }

  async #give(news: readonly ReceivedKey[], signal: AbortSignal): Promise<void> {
    const sent = news.slice(-limits.liveEventsPerPoll);
    if (sent.length < news.length) this.#skip(news.length - sent.length);
    for (let start = 0; start < sent.length; start += limits.liveChunkRows) {
      const chunk = sent.slice(start, start + limits.liveChunkRows);
      const events = await this.#events(chunk, (key) => this.#cursorOf(key), signal);
      if (events === undefined) this.#skip(chunk.length);
      if (events === undefined || events.length === 0) continue;
      const together = Buffer.concat(events.map(({ frame }) => frame));
      for (const listener of this.listeners) listener.push(events, together);
    }
  }

  #skip(count: number | null): void {
    for (const listener of this.listeners) listener.skip(count);
  }

  /** A span that is late has the cursor of those before it, so that going on from it repeats nothing. */
  #cursorOf(key: ReceivedKey): string {
    const own = writeLiveCursor(key);
    if (own > this.#lastCursor) this.#lastCursor = own;
    return this.#lastCursor;
  }

  /** Undefined where they cannot be read: their content may be more than the store hands out. */
  async #events(
    keys: readonly ReceivedKey[],
    cursorOf: (key: ReceivedKey) => string,
    signal: AbortSignal,
  ): Promise<LiveEvent[] | undefined> {
    try {
      const rows = await this.#query.present(keys, signal);
      return keys.flatMap((key) => {
        const data = rows.get(key.unique_id);
        if (data === undefined) return [];
        // Stored JSON may have line breaks between its members.
        const line = data.replace(/[\r\n]+/g, " ");
        return [{ key: versionOf(key), frame: Buffer.from(`id: ${cursorOf(key)}\ndata: ${line}\n\n`) }];
      });
    } catch (error) {
      if (signal.aborted) throw error;
      this.#deps.logger.warn({ err: error }, "the live tail could not read the content of spans and skips them");
      return undefined;
    }
  }

  #list(after: ReceivedPlace, limit: number, signal: AbortSignal) {
    const now = BigInt(this.#deps.now());
    const reach = BigInt(limits.liveWindowMs);
    const window = { fromNs: (now - reach) * nsPerMs, toNs: (now + reach) * nsPerMs };
    return this.#deps.spans.listReceived({ ...this.#query.selection, window, after, limit }, signal);
  }
}

const nsPerMs = 1_000_000n;
const versionOf = ({ unique_id, environment, version }: ReceivedKey) => `${unique_id} ${environment} ${version}`;
