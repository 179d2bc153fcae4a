import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { limits } from "../limits.ts";
import type { Journal, JournalEntry } from "../storage/journal/journal.ts";
import { isPoisonBatch } from "../storage/spans/span-store.ts";
import type { SpanStore } from "../storage/spans/span-store.ts";
import type { IngestMetrics } from "../telemetry/ingest-metrics.ts";

/**
 * Moves accepted rows from the journal into the span store, in groups, forever.
 *
 * A store that is down or slow is tried again until it takes the group. A group that it refuses for its content is
 * split until the bad row stands alone; that one is quarantined in the journal. Rows carry their identity and version,
 * so writing one twice (a crash between insert and journal removal) is the same as writing it once.
 */
export type SpanWriter = {
  /** Queues what an earlier process left in the journal; `state().isReplayed` tells when it is stored. */
  start(): void;
  /** Takes over a committed entry. */
  add(entry: JournalEntry, payload: Buffer): void;
  state(): WriterState;
  /** Resolves once all that was added before is stored. */
  flush(): Promise<void>;
  /** Flushes as long as the store takes it, at most `graceMs`; the journal keeps the rest. */
  stop(graceMs: number): Promise<void>;
};

export type WriterState = {
  isReplayed: boolean;
  queuedEntries: number;
  /** Since when the store has refused, and why; undefined while it takes rows. */
  failing: { sinceMs: number; reason: string } | undefined;
};

export type SpanWriterDeps = {
  journal: Journal;
  store: Pick<SpanStore, "insert">;
  metrics: IngestMetrics;
  logger: Logger;
  /** Names this node's inserts, so that tokens of two nodes never meet. */
  nodeId: string;
  now: () => number;
};

type Queued = JournalEntry & { payload: Buffer | undefined };
type Group = { entries: Queued[]; rows: number; bytes: number };

export function createSpanWriter({ journal, store, metrics, logger, nodeId, now }: SpanWriterDeps): SpanWriter {
  const queue = createQueue();
  const stopping = new AbortController();
  let running: Promise<void> | undefined;
  let lastReplaySeq = 0;
  let addedSeq = 0;
  let writtenSeq = 0;
  let failing: WriterState["failing"];
  let wake = (): void => undefined;
  let flushRequested = false;
  let flushWaiters: Array<{ seq: number; resolve: () => void }> = [];

  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      if (queue.size() === 0) {
        flushRequested = false;
        await new Promise<void>((resolve) => (wake = resolve));
        continue;
      }
      await waitForGroup();
      await writeGroup(queue.takeGroup());
    }
  };

  /** Waits until a group is full, old enough, or asked for. */
  const waitForGroup = async (): Promise<void> => {
    if (queue.isGroupFull() || flushRequested || stopping.signal.aborted) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      wake = resolve;
      timer = setTimeout(resolve, limits.writerGroupMs);
    });
    clearTimeout(timer);
  };

  const writeGroup = async (group: Group): Promise<void> => {
    const payload = Buffer.concat(group.entries.map((entry) => entry.payload ?? journal.read(entry.seq) ?? Buffer.alloc(0)));
    const firstSeq = group.entries[0]?.seq ?? 0;
    const lastSeq = group.entries.at(-1)?.seq ?? 0;
    const done = await insert({ payload, rows: group.rows, token: `${nodeId}:${firstSeq}-${lastSeq}` });
    if (!done) return;
    writtenSeq = lastSeq;
    flushWaiters = flushWaiters.filter((waiter) => {
      if (waiter.seq <= writtenSeq) waiter.resolve();
      return waiter.seq > writtenSeq;
    });
    await journal.remove(group.entries.map((entry) => entry.seq)).catch((error: unknown) => {
      logger.error({ err: error }, "journal entries could not be removed; they will be replayed");
    });
  };

  /** Whether all rows are stored or quarantined; false only when the writer stops first. */
  const insert = async (batch: { payload: Buffer; rows: number; token: string }): Promise<boolean> => {
    for (let attempt = 0; !stopping.signal.aborted; attempt += 1) {
      const end = metrics.insertSeconds.startTimer();
      try {
        await store.insert({ ndjson: batch.payload, rows: batch.rows, token: batch.token }, stopping.signal);
        end();
        metrics.insertedRows.inc(batch.rows);
        if (failing) logger.info({ failedForMs: now() - failing.sinceMs }, "the span store takes rows again");
        failing = undefined;
        return true;
      } catch (error) {
        if (isPoisonBatch(error)) return isolate(batch, error);
        metrics.insertFailures.inc();
        const reason = error instanceof Error ? error.name : "unknown";
        if (!failing) logger.error({ err: error }, "the span store refuses rows; they stay in the journal");
        failing ??= { sinceMs: now(), reason };
        await sleep(retryDelayMs(attempt), undefined, { signal: stopping.signal }).catch(() => undefined);
      }
    }
    return false;
  };

  /** Halves a batch that holds a bad row until that row stands alone. */
  const isolate = async (batch: { payload: Buffer; rows: number; token: string }, error: Error): Promise<boolean> => {
    const lines = splitLines(batch.payload);
    if (lines.length <= 1) {
      logger.error({ err: error, token: batch.token }, "a row was quarantined: the span store refuses its content");
      metrics.quarantinedRows.inc();
      await journal.quarantine(batch.payload, error.message);
      return true;
    }
    const middle = lines.length >> 1;
    const halves = [lines.slice(0, middle), lines.slice(middle)];
    for (const [index, half] of halves.entries()) {
      const part = { payload: Buffer.concat(half), rows: half.length, token: `${batch.token}/${index}` };
      if (!(await insert(part))) return false;
    }
    return true;
  };

  const enqueue = (entry: JournalEntry, payload: Buffer | undefined): void => {
    queue.push(entry, payload);
    addedSeq = entry.seq;
    if (queue.size() === 1 || queue.isGroupFull()) wake();
  };

  return {
    start() {
      let after = 0;
      for (;;) {
        const entries = journal.pending(after, limits.journalReplayPage);
        for (const entry of entries) enqueue(entry, undefined);
        const last = entries.at(-1);
        if (!last) break;
        after = last.seq;
      }
      lastReplaySeq = after;
      if (queue.size() > 0) logger.info({ entries: queue.size() }, "replaying the journal");
      running = loop();
    },
    add: enqueue,
    state: () => ({
      isReplayed: running !== undefined && writtenSeq >= lastReplaySeq,
      queuedEntries: queue.size(),
      failing,
    }),
    flush() {
      if (writtenSeq >= addedSeq) return Promise.resolve();
      flushRequested = true;
      wake();
      return new Promise((resolve) => flushWaiters.push({ seq: addedSeq, resolve }));
    },
    async stop(graceMs) {
      await Promise.race([this.flush(), sleep(graceMs, undefined, { ref: false })]);
      stopping.abort();
      wake();
      await running;
    },
  };
}

type Queue = {
  push(entry: JournalEntry, payload: Buffer | undefined): void;
  takeGroup(): Group;
  isGroupFull(): boolean;
  size(): number;
};

/** First in, first out. While the store is down the journal holds the bytes; memory holds only so many of them. */
function createQueue(): Queue {
  const entries: Queued[] = [];
  let rows = 0;
  let bytes = 0;
  let heldBytes = 0;

  const fits = (group: Group, entry: Queued): boolean =>
    group.entries.length === 0 ||
    (group.rows + entry.rows <= limits.writerGroupRows && group.bytes + entry.bytes <= limits.writerGroupBytes);

  return {
    push(entry, payload) {
      const held =
        payload !== undefined && heldBytes + payload.byteLength <= limits.writerHeldBytes ? payload : undefined;
      entries.push({ ...entry, payload: held });
      heldBytes += held?.byteLength ?? 0;
      rows += entry.rows;
      bytes += entry.bytes;
    },
    takeGroup() {
      const group: Group = { entries: [], rows: 0, bytes: 0 };
      for (const entry of entries) {
        if (!fits(group, entry)) break;
        group.entries.push(entry);
        group.rows += entry.rows;
        group.bytes += entry.bytes;
        heldBytes -= entry.payload?.byteLength ?? 0;
      }
      entries.splice(0, group.entries.length);
      rows -= group.rows;
      bytes -= group.bytes;
      return group;
    },
    isGroupFull: () => rows >= limits.writerGroupRows || bytes >= limits.writerGroupBytes,
    size: () => entries.length,
  };
}

/** Exponential, with jitter so that nodes do not knock at one store together. */
function retryDelayMs(attempt: number): number {
  const delay = Math.min(limits.writerRetryMaxMs, limits.writerRetryMinMs * 2 ** Math.min(attempt, 16));
  return delay * (0.5 + Math.random() / 2);
}

/** The lines of NDJSON, each with its line break. JSON text holds no raw line break. */
function splitLines(payload: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let start = 0; start < payload.length; ) {
    const end = payload.indexOf(0x0a, start);
    const next = end === -1 ? payload.length : end + 1;
    lines.push(payload.subarray(start, next));
    start = next;
  }
  return lines;
}
