import { hash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { ingestLimits } from "../limits.ts";
import type { ReceivedKey, ReceivedPlace } from "../../storage/spans/received-spans.ts";
import type { SpanSelection, SpanStore } from "../../storage/spans/span-store.ts";
import { DeliveredSpans, versionKey } from "./delivered-spans.ts";
import { isBehind, livePlaceAt, secondOf, writeLiveCursor, type LiveCursor } from "./live-cursor.ts";
import type { LiveEvent, LiveListener } from "./live-listener.ts";

/** The filter of a stream. Streams with the same filter share one feed. */
export type LiveQuery = {
  selection: Pick<SpanSelection, "scope" | "filter">;
  /** Returns the rows of these spans as JSON by unique_id; deleted spans are missing. */
  present(keys: readonly ReceivedKey[], signal: AbortSignal): Promise<ReadonlyMap<string, string>>;
};

export type LiveFeedDeps = {
  spans: Pick<SpanStore, "listReceived" | "countReceived">;
  logger: Logger;
  now: () => number;
};

/**
 * Queries the span store every half second for spans received in the last seconds, on any node, and sends each span to
 * all listeners once. Every ten seconds it counts the spans received before, to find those that were stored late: they
 * are sent then, or counted as skipped if there are too many to identify them.
 */
export class LiveFeed {
  readonly listeners = new Set<LiveListener>();
  readonly #deps: LiveFeedDeps;
  readonly #query: LiveQuery;
  /** The name of the filter in cursors. */
  readonly #name: string;
  readonly #stopping = new AbortController();
  readonly #openedMs: number;
  readonly #delivered = new DeliveredSpans();
  #polledMs: number | undefined;
  /** The second from which the last poll read. Spans received before it are counted. */
  #polledFrom = 0;
  #nextCountMs = 0;
  #isCounted = false;
  #lastPlace: ReceivedPlace = livePlaceAt(0);
  /** The sum of a cursor's `check`, cached, and the second from which it counts. */
  #totalled = { since: -1, total: 0 };
  /** Resolves when the feed follows the store, or stops. */
  readonly #following = Promise.withResolvers<void>();
  /** The cursor after everything that was sent; absent while spans are being sent. */
  cursor: string | undefined;

  constructor(deps: LiveFeedDeps, query: LiveQuery) {
    this.#deps = deps;
    this.#query = query;
    const { scope, filter } = query.selection;
    this.#name = hash("sha256", JSON.stringify([scope, filter?.sql, filter?.params])).slice(0, 8);
    this.#openedMs = deps.now();
  }

  /** Runs until `stop`. Never rejects. */
  async run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const startedMs = performance.now();
      try {
        await this.#poll(signal);
        if (performance.now() >= this.#nextCountMs) await this.#count(signal);
        this.cursor = this.#idleCursor();
        this.#following.resolve();
      } catch (error) {
        if (signal.aborted) return;
        this.#deps.logger.warn({ err: error }, "the live tail could not read spans; retrying");
      }
      // Queries take at most half of the time, however slow the store is.
      const tookMs = performance.now() - startedMs;
      await sleep(Math.max(ingestLimits.livePollMs - tookMs, tookMs), undefined, { signal, ref: false }).catch(
        () => undefined,
      );
    }
  }

  stop(): void {
    this.#stopping.abort();
    this.#following.resolve();
  }

  /** Sends a listener the spans received since `cursor`, then lets it follow the feed. */
  async readBack(listener: LiveListener, cursor: LiveCursor): Promise<void> {
    const { signal } = this.#stopping;
    // From then on the feed sends spans that are stored later.
    await this.#following.promise;
    const nowMs = this.#deps.now();
    const oldest = livePlaceAt(nowMs - ingestLimits.liveResumeMs);
    const latest = livePlaceAt(nowMs + ingestLimits.liveWindowMs);
    const isTooOld = isBehind(oldest, cursor);
    const after = isTooOld ? oldest : isBehind(cursor, latest) ? latest : cursor;
    const [{ keys, count }, late] = await Promise.all([
      this.#list(after, ingestLimits.liveResumeRows, signal),
      isTooOld ? null : this.#storedLate(cursor, signal),
    ]);
    for (let start = 0; start < keys.length && !listener.isClosed; start += ingestLimits.liveChunkRows) {
      const chunk = keys.slice(start, start + ingestLimits.liveChunkRows);
      const events = await this.#events(chunk, chunk.map(writeLiveCursor), signal);
      for (const event of events ?? []) await listener.readBack(event);
      if (events === undefined) listener.skip(chunk.length);
    }
    const skipped = late === null ? null : late + count - keys.length;
    if (skipped !== 0) listener.skip(skipped);
    listener.follow();
  }

  /** The number of spans before the place of a cursor that were stored after it was written. */
  async #storedLate({ check, ...place }: LiveCursor, signal: AbortSignal): Promise<number> {
    if (check?.stream !== this.#name) return 0;
    const after = livePlaceAt(totalledSince(place) * 1000);
    const counts = await this.#deps.spans.countReceived({ ...this.#selection(), after, until: place }, signal);
    const total = [...counts.values()].reduce((sum, each) => sum + each, 0);
    return Math.max(0, total - check.total);
  }

  async #poll(signal: AbortSignal): Promise<void> {
    const startedMs = this.#deps.now();
    const windowFrom = secondAt(startedMs - ingestLimits.liveWindowMs);
    const isFirst = this.#polledMs === undefined;
    const overlapFrom = secondAt((this.#polledMs ?? 0) - ingestLimits.liveOverlapMs);
    const from = Math.max(isFirst ? windowFrom : overlapFrom, windowFrom, this.#delivered.knownFrom);
    const { keys, count } = await this.#list(livePlaceAt(from * 1000), ingestLimits.liveKeys, signal);
    const fresh = this.#delivered.take(keys);
    if (isFirst && count > keys.length) this.#delivered.evictBefore(secondOf(keys[0]?.received_at ?? "") + 1);
    this.#polledMs = startedMs;
    this.#polledFrom = isFirst
      ? Math.max(secondAt(startedMs - ingestLimits.liveOverlapMs), this.#delivered.knownFrom)
      : from;
    const opened = livePlaceAt(this.#openedMs);
    await this.#deliver(isFirst ? fresh.filter((key) => isBehind(key, opened)) : fresh, signal);
  }

  /** Finds spans that were stored after polls had passed their time of receipt. */
  async #count(signal: AbortSignal): Promise<void> {
    const startedMs = performance.now();
    const after = livePlaceAt(this.#deps.now() - ingestLimits.liveWindowMs);
    const until = this.#polledFrom;
    const query = { ...this.#selection(), after, until: livePlaceAt(until * 1000) };
    const counts = await this.#deps.spans.countReceived(query, signal);
    const lateFrom = this.#delivered.lateFrom(counts);
    let listedFrom = Infinity;
    if (lateFrom !== undefined) {
      const { keys, count } = await this.#list(livePlaceAt(lateFrom * 1000), ingestLimits.liveKeys, signal);
      await this.#deliver(this.#delivered.take(keys), signal);
      if (count === keys.length) listedFrom = lateFrom;
    }
    const lost = this.#delivered.settle(counts, { until, listedFrom });
    // In the first count, these are spans that existed before the feed.
    if (lost > 0 && this.#isCounted) this.#skip(lost);
    this.#isCounted = true;
    const tookMs = performance.now() - startedMs;
    this.#nextCountMs = performance.now() + Math.max(ingestLimits.liveCountMs, ingestLimits.liveCountPause * tookMs);
  }

  async #deliver(fresh: readonly ReceivedKey[], signal: AbortSignal): Promise<void> {
    if (fresh.length === 0) return;
    this.cursor = undefined;
    this.#totalled = { since: -1, total: 0 };
    const sent = fresh.slice(-ingestLimits.liveEventsPerPoll);
    if (sent.length < fresh.length) this.#skip(fresh.length - sent.length);
    for (let start = 0; start < sent.length; start += ingestLimits.liveChunkRows) {
      const chunk = sent.slice(start, start + ingestLimits.liveChunkRows);
      const cursors = chunk.map((key, i) => this.#cursorOf(key, sent.length - start - i - 1));
      const events = await this.#events(chunk, cursors, signal);
      if (events === undefined) this.#skip(chunk.length);
      if (events === undefined || events.length === 0) continue;
      const together = Buffer.concat(events.map(({ frame }) => frame));
      for (const listener of this.listeners) listener.push(events, together);
    }
  }

  #skip(count: number): void {
    for (const listener of this.listeners) listener.skip(count);
  }

  /**
   * A late span gets the cursor of the last place before it, so that resuming from it repeats nothing.
   *
   * @param left number of spans that are accounted for but not sent yet
   */
  #cursorOf(key: ReceivedKey, left: number): string {
    if (isBehind(key, this.#lastPlace)) this.#lastPlace = key;
    return this.#cursorAt(this.#lastPlace, left);
  }

  #idleCursor(): string {
    const polled = livePlaceAt(this.#polledFrom * 1000);
    const last = this.#delivered.lastPlace ?? polled;
    this.#totalled = { since: -1, total: 0 };
    return this.#cursorAt(isBehind(last, polled) ? last : polled, 0);
  }

  #cursorAt({ received_at, unique_id }: ReceivedPlace, left: number): string {
    if (!this.#isCounted) return writeLiveCursor({ received_at, unique_id });
    const since = totalledSince({ received_at });
    if (this.#totalled.since !== since) this.#totalled = { since, total: this.#delivered.total(since) };
    const check = { total: Math.max(0, this.#totalled.total - left), stream: this.#name };
    return writeLiveCursor({ received_at, unique_id, check });
  }

  /** Undefined if the content cannot be read, for example because it exceeds what the store returns. */
  async #events(
    keys: readonly ReceivedKey[],
    cursors: readonly string[],
    signal: AbortSignal,
  ): Promise<LiveEvent[] | undefined> {
    try {
      const rows = await this.#query.present(keys, signal);
      return keys.flatMap((key, i) => {
        const data = rows.get(key.unique_id);
        if (data === undefined) return [];
        // Stored JSON may have line breaks between its members.
        const line = data.replace(/[\r\n]+/g, " ");
        return [{ key: versionKey(key), frame: Buffer.from(`id: ${cursors[i]}\ndata: ${line}\n\n`) }];
      });
    } catch (error) {
      if (signal.aborted) throw error;
      this.#deps.logger.warn({ err: error }, "the live tail could not read the content of spans; skipping them");
      return undefined;
    }
  }

  #list(after: ReceivedPlace, limit: number, signal: AbortSignal) {
    return this.#deps.spans.listReceived({ ...this.#selection(), after, limit }, signal);
  }

  #selection(): SpanSelection {
    const now = BigInt(this.#deps.now());
    const reach = BigInt(ingestLimits.liveWindowMs);
    const window = { fromNs: (now - reach) * nsPerMs, toNs: (now + reach) * nsPerMs };
    return { ...this.#query.selection, window };
  }
}

const nsPerMs = 1_000_000n;
const secondAt = (ms: number): number => Math.floor(ms / 1000);

/** The second from which the total of a cursor at this place counts: the same for a whole minute. */
function totalledSince({ received_at }: Pick<ReceivedPlace, "received_at">): number {
  const second = secondOf(received_at);
  return second - (second % 60) - ingestLimits.liveResumeMs / 1000;
}
