import { hash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { ingestLimits } from "../limits.ts";
import type { ReceivedKey, ReceivedPlace } from "../../storage/spans/received-spans.ts";
import type { SpanSelection, SpanStore } from "../../storage/spans/span-store.ts";
import { GivenSpans, versionKey } from "./given-spans.ts";
import { isBehind, livePlaceAt, secondOf, writeLiveCursor, type LiveCursor } from "./live-cursor.ts";
import type { LiveEvent, LiveListener } from "./live-listener.ts";

/** What a stream is about. Streams that are about the same share the reading. */
export type LiveQuery = {
  selection: Pick<SpanSelection, "scope" | "filter">;
  /** The rows of these spans as JSON without line breaks, by unique_id; without those that are gone. */
  present(keys: readonly ReceivedKey[], signal: AbortSignal): Promise<ReadonlyMap<string, string>>;
};

export type LiveFeedDeps = {
  spans: Pick<SpanStore, "listReceived" | "countReceived">;
  logger: Logger;
  now: () => number;
};

/**
 * Asks the span store every half second for what was received in the last seconds, whichever node accepted it, and gives each
 * span to all listeners once. Every ten seconds it counts what was received before, for spans that were stored late: they
 * are given then, or where too many came to tell them apart, counted as skipped.
 */
export class LiveFeed {
  readonly listeners = new Set<LiveListener>();
  readonly #deps: LiveFeedDeps;
  readonly #query: LiveQuery;
  /** What a cursor calls the filter. */
  readonly #name: string;
  readonly #stopping = new AbortController();
  readonly #openedMs: number;
  readonly #given = new GivenSpans();
  #polledMs: number | undefined;
  /** The second at which the last poll began to look. What was received before it is counted. */
  #polledFrom = 0;
  #nextCountMs = 0;
  #isCounted = false;
  #lastPlace: ReceivedPlace = livePlaceAt(0);
  /** From when on the total of a cursor is counted, and the total. */
  #totalled = { since: -1, total: 0 };
  /** Resolves when it follows the store, or stops. */
  readonly #following = Promise.withResolvers<void>();
  /** The cursor behind all that was given; absent while something is being given. */
  cursor: string | undefined;

  constructor(deps: LiveFeedDeps, query: LiveQuery) {
    this.#deps = deps;
    this.#query = query;
    const { scope, filter } = query.selection;
    this.#name = hash("sha256", JSON.stringify([scope, filter?.sql, filter?.params])).slice(0, 8);
    this.#openedMs = deps.now();
  }

  /** Until `stop`. Never rejects. */
  async run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const startedMs = performance.now();
      try {
        await this.#poll(signal);
        if (performance.now() >= this.#nextCountMs) await this.#count(signal);
        this.cursor = this.#restingCursor();
        this.#following.resolve();
      } catch (error) {
        if (signal.aborted) return;
        this.#deps.logger.warn({ err: error }, "the live tail could not read spans and tries again");
      }
      // At most half of the time is spent on it, however slow the store is.
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

  /** Gives a listener that joined what came since `cursor`, then lets it follow. */
  async readBack(listener: LiveListener, cursor: LiveCursor): Promise<void> {
    const { signal } = this.#stopping;
    // From here on it gives what is stored later.
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

  /** How many spans were stored before the place of a cursor since it was written. */
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
    const from = Math.max(isFirst ? windowFrom : overlapFrom, windowFrom, this.#given.knownFrom);
    const { keys, count } = await this.#list(livePlaceAt(from * 1000), ingestLimits.liveKeys, signal);
    const fresh = this.#given.take(keys);
    if (isFirst && count > keys.length) this.#given.forgetBefore(secondOf(keys[0]?.received_at ?? "") + 1);
    this.#polledMs = startedMs;
    this.#polledFrom = isFirst
      ? Math.max(secondAt(startedMs - ingestLimits.liveOverlapMs), this.#given.knownFrom)
      : from;
    const opened = livePlaceAt(this.#openedMs);
    await this.#give(isFirst ? fresh.filter((key) => isBehind(key, opened)) : fresh, signal);
  }

  /** Finds what was stored after polls had passed its time of receipt. */
  async #count(signal: AbortSignal): Promise<void> {
    const startedMs = performance.now();
    const after = livePlaceAt(this.#deps.now() - ingestLimits.liveWindowMs);
    const until = this.#polledFrom;
    const query = { ...this.#selection(), after, until: livePlaceAt(until * 1000) };
    const counts = await this.#deps.spans.countReceived(query, signal);
    const lateFrom = this.#given.lateFrom(counts);
    let listedFrom = Infinity;
    if (lateFrom !== undefined) {
      const { keys, count } = await this.#list(livePlaceAt(lateFrom * 1000), ingestLimits.liveKeys, signal);
      await this.#give(this.#given.take(keys), signal);
      if (count === keys.length) listedFrom = lateFrom;
    }
    const lost = this.#given.settle(counts, { until, listedFrom });
    // The first time they are what was there before.
    if (lost > 0 && this.#isCounted) this.#skip(lost);
    this.#isCounted = true;
    const tookMs = performance.now() - startedMs;
    this.#nextCountMs = performance.now() + Math.max(ingestLimits.liveCountMs, ingestLimits.liveCountPause * tookMs);
  }

  async #give(news: readonly ReceivedKey[], signal: AbortSignal): Promise<void> {
    if (news.length === 0) return;
    this.cursor = undefined;
    this.#totalled = { since: -1, total: 0 };
    const sent = news.slice(-ingestLimits.liveEventsPerPoll);
    if (sent.length < news.length) this.#skip(news.length - sent.length);
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
   * A span that is late has the cursor of those before it, so that going on from it repeats nothing.
   *
   * @param left how many follow that are accounted for and not given yet
   */
  #cursorOf(key: ReceivedKey, left: number): string {
    if (isBehind(key, this.#lastPlace)) this.#lastPlace = key;
    return this.#cursorAt(this.#lastPlace, left);
  }

  #restingCursor(): string {
    const polled = livePlaceAt(this.#polledFrom * 1000);
    const last = this.#given.lastPlace ?? polled;
    this.#totalled = { since: -1, total: 0 };
    return this.#cursorAt(isBehind(last, polled) ? last : polled, 0);
  }

  #cursorAt({ received_at, unique_id }: ReceivedPlace, left: number): string {
    if (!this.#isCounted) return writeLiveCursor({ received_at, unique_id });
    const since = totalledSince({ received_at });
    if (this.#totalled.since !== since) this.#totalled = { since, total: this.#given.total(since) };
    const check = { total: Math.max(0, this.#totalled.total - left), stream: this.#name };
    return writeLiveCursor({ received_at, unique_id, check });
  }

  /** Undefined where they cannot be read: their content may be more than the store hands out. */
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
      this.#deps.logger.warn({ err: error }, "the live tail could not read the content of spans and skips them");
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

/** From which second on the total of a cursor at this place counts: the same for all of a minute. */
function totalledSince({ received_at }: Pick<ReceivedPlace, "received_at">): number {
  const second = secondOf(received_at);
  return second - (second % 60) - ingestLimits.liveResumeMs / 1000;
}
