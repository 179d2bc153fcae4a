import type { Logger } from "pino";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { SpanRow } from "../../domain/span.ts";
import { ServiceError } from "../../domain/errors.ts";
import { readCall, writeCall, type AcceptCalls, type RecordedCall } from "../../ingest/accept/recorded-call.ts";
import type { Adopt } from "../../ingest/writer/adopt.ts";
import { ExpiringLru } from "../../lib/expiring-lru.ts";
import { TurnQueue } from "../../lib/turn-queue.ts";
import { FairShare, type SharedLimit } from "../../lib/fair-share.ts";
import { gatewayLimits } from "../limits.ts";
import type { CallSpool, PreviousRecords } from "../../storage/journal/call-spool.ts";
import type { GatewayMetrics } from "../../telemetry/gateway-metrics.ts";

/** One finished call; `body` is called once, before the caller gets the last byte. */
export type CallFacts = Pick<RecordedCall, "origin" | "identity"> & { body: () => Record<string, unknown> };

/**
 * Writes finished calls to the spool before the callers get the last byte, and makes spans of them later, in batches:
 * the intake reads them as it reads what clients send. A process that dies loses none. While the journal accepts nothing
 * they wait, within limits; at the limits the gateway accepts no further calls, so that no call goes unrecorded.
 */
export type Recorder = {
  /** True for the first call with this identity. Later ones get spans of their own, as no call may replace another. */
  claim(identity: Buffer): boolean;
  /** Dispatches what an earlier process left. Waits for that, but not for a journal that accepts nothing. */
  start(): Promise<void>;
  /**
   * Records the call together with all calls that end in this turn of the event loop; immediately if no other call is
   * running.
   * @param onSafe called when the record outlives this process, unless the spool fails: the last byte of the response
   * may be sent
   */
  add(call: CallFacts, onSafe?: () => void): void;
  /**
   * Runs a call that may end in a record.
   * @throws ServiceError `unavailable`, before it begins, if there might be no room for its record, overall or for its
   * organization
   */
  during(organizationId: string, call: () => Promise<void>): Promise<void>;
  /** Whether an organization without waiting records could make a call. */
  hasRoom(): boolean;
  /** Records that wait for the journal, and their bytes. */
  limits(): { records: SharedLimit; bytes: SharedLimit };
  /** Dispatches the records of answered calls right away, and waits for that for at most `timeoutMs`. */
  caughtUp(timeoutMs: number): Promise<boolean>;
  /** Waits for at most `graceMs` until the running calls have ended and everything is recorded. */
  stop(graceMs: number): Promise<void>;
};

export type RecorderDeps = {
  acceptCalls: AcceptCalls;
  adopt: Pick<Adopt, "call">;
  spool: Pick<CallSpool, "append" | "rotate" | "previous">;
  metrics: GatewayMetrics;
  logger: Logger;
  /** Called with the span of each record that an earlier process left. */
  onRecalled: (row: SpanRow) => void;
  /** Milliseconds since the epoch. */
  now: () => number;
  maxRecords?: number;
  maxRecordBytes?: number;
};

/**
 * `call` saves reading the text again, which takes 6 µs. It is dropped with the first attempt: calls that wait longer are
 * cheaper to retain as text.
 */
type Waiting = { call: RecordedCall | undefined; text: string; organizationId: string; isSpooled: boolean };

type Ended = { call: CallFacts; onSafe: (() => void) | undefined };

export function createRecorder(deps: RecorderDeps): Recorder {
  return new SpooledRecorder(deps);
}

class SpooledRecorder implements Recorder {
  readonly #deps: RecorderDeps;
  #callsUnderWay = 0;
  /** Everything that the journal does not have yet, except what an earlier process left. */
  readonly #records: FairShare;
  readonly #bytes: FairShare;
  #unspooled = 0;
  /** The part that no flush has started on. */
  #waiting: Waiting[] = [];
  readonly #left: PreviousRecords[];
  #flushing: Promise<void> | undefined;
  #isScheduled = false;
  /** Calls that ended in this turn of the event loop. */
  readonly #ended = new TurnQueue<Ended>((calls) => this.#write(calls));
  readonly #stopping = new AbortController();
  readonly #claimed = new ExpiringLru<string, true>({
    maxEntries: gatewayLimits.callIdentities,
    ttlMs: gatewayLimits.callIdentityMs,
    nowMs: () => performance.now(),
  });

  constructor(deps: RecorderDeps) {
    this.#deps = deps;
    this.#records = new FairShare(deps.maxRecords ?? gatewayLimits.recordsWaiting);
    this.#bytes = new FairShare(deps.maxRecordBytes ?? gatewayLimits.recordBytesWaiting);
    this.#left = [...deps.spool.previous];
    deps.metrics.watchRecords(() => this.#size());
  }

  claim(identity: Buffer): boolean {
    const key = identity.toString("latin1");
    const isFirst = this.#claimed.get(key) === undefined;
    this.#claimed.set(key, true);
    return isFirst;
  }

  async start(): Promise<void> {
    if (this.#left.length === 0) return;
    this.#flushing ??= this.#flush();
    await Promise.race([this.#flushing, sleep(gatewayLimits.recordsRecallMs, undefined, { ref: false })]);
  }

  add(call: CallFacts, onSafe?: () => void): void {
    this.#ended.add({ call, onSafe }, this.#callsUnderWay === 1);
  }

  /** Writes once for all calls that ended together: a system call each would cost more than the rest of the record. */
  #write(ended: readonly Ended[]): void {
    const { spool, metrics, logger } = this.#deps;
    const records = ended.map(({ call }) => this.#textOf(call)).filter((record) => record !== undefined);
    const areSpooled = spool.append(records.map(({ text }) => text));
    for (const [index, record] of records.entries()) {
      record.isSpooled = areSpooled[index] === true;
      if (!record.isSpooled) metrics.recordsUnspooled.inc();
      this.#count(record, 1);
      this.#waiting.push(record);
    }
    if (this.#flushing === undefined) this.#schedule();
    for (const { onSafe } of ended) {
      try {
        onSafe?.();
      } catch (error) {
        logger.error({ err: error }, "the response of a gateway call could not be ended");
      }
    }
  }

  #textOf({ body, origin, identity }: CallFacts): Waiting | undefined {
    const { now, metrics, logger } = this.#deps;
    try {
      const receivedNs = BigInt(Math.round(now() * 1000)) * 1000n;
      const call = { body: body(), origin, identity, receivedNs };
      const text = writeCall(call);
      return { call, text, organizationId: origin.organization_id, isSpooled: false };
    } catch (error) {
      metrics.recordsLost.inc();
      logger.error({ err: error }, "the span of a gateway call could not be made");
      return undefined;
    }
  }

  #count({ text, organizationId, isSpooled }: Waiting, by: 1 | -1): void {
    if (by === 1) {
      this.#records.acquire(organizationId, 1);
      this.#bytes.acquire(organizationId, memoryOf(text));
    } else {
      this.#records.release(organizationId, 1);
      this.#bytes.release(organizationId, memoryOf(text));
    }
    if (!isSpooled) this.#unspooled += by;
  }

  /** Waits a little to collect more records: a journal commit costs as much as a hundred records in it. */
  #schedule(): void {
    if (this.#isScheduled || this.#stopping.signal.aborted) return;
    this.#isScheduled = true;
    setTimeout(() => this.#begin(), gatewayLimits.recordBatchMs);
  }

  #size(): number {
    return this.#records.inUse + this.#ended.size;
  }

  limits(): { records: SharedLimit; bytes: SharedLimit } {
    return { records: this.#records, bytes: this.#bytes };
  }

  hasRoom(): boolean {
    return this.#hasRoomFor("");
  }

  #hasRoomFor(party: string): boolean {
    return this.#records.available(party) > this.#ended.size && this.#bytes.available(party) > 0;
  }

  async during(organizationId: string, call: () => Promise<void>): Promise<void> {
    if (!this.#hasRoomFor(organizationId)) {
      (this.#bytes.available(organizationId) > 0 ? this.#records : this.#bytes).note("refused");
      this.#deps.metrics.refusedFull.inc();
      const message = "Too many finished calls wait to be recorded. Please try again.";
      throw new ServiceError("unavailable", message, { retryAfterS: 1 });
    }
    this.#callsUnderWay += 1;
    try {
      await call();
    } finally {
      this.#callsUnderWay -= 1;
    }
  }

  async caughtUp(timeoutMs: number): Promise<boolean> {
    // A running flush may have started before the last of them.
    const dispatch = async (): Promise<boolean> => {
      await this.#flushing;
      this.#begin();
      await this.#flushing;
      return true;
    };
    if (this.#records.inUse === 0) return true;
    return await Promise.race([dispatch(), sleep(timeoutMs, false, { ref: false })]);
  }

  async stop(graceMs: number): Promise<void> {
    const { metrics, logger } = this.#deps;
    const deadline = performance.now() + graceMs;
    this.#ended.flush();
    this.#begin();
    while (this.#size() + this.#callsUnderWay > 0 && performance.now() < deadline) {
      await sleep(gatewayLimits.recordDrainPollMs);
      this.#begin();
    }
    this.#ended.flush();
    this.#stopping.abort();
    await this.#flushing;
    const [records, lost] = [this.#records.inUse, this.#unspooled];
    if (records === 0) return;
    logger.warn({ spans: records - lost }, "spans of gateway calls are left to the next start");
    if (lost === 0) return;
    metrics.recordsLost.inc(lost);
    logger.error({ spans: lost }, "spans of gateway calls were lost: neither the journal nor the spool took them");
  }

  #begin(): void {
    this.#isScheduled = false;
    if (this.#waiting.length > 0) this.#flushing ??= this.#flush();
  }

  async #flush(): Promise<void> {
    const { spool } = this.#deps;
    for (let file = this.#left.shift(); file !== undefined; file = this.#left.shift()) {
      if (await this.#recall(file)) file.discard();
    }
    if (this.#waiting.length > 0 && !this.#stopping.signal.aborted) {
      const records = this.#waiting;
      this.#waiting = [];
      const emptyFile = spool.rotate();
      if (await this.#dispatch(records)) emptyFile();
    }
    this.#flushing = undefined;
    if (this.#waiting.length > 0) this.#schedule();
  }

  /** Several at a time, which the journal commits together. False only if the recorder stops first. */
  async #recall(file: PreviousRecords): Promise<boolean> {
    const { adopt, metrics, onRecalled } = this.#deps;
    const recall = async (text: Buffer): Promise<void> => {
      const row = await adopt.call(text);
      if (row === undefined) return;
      metrics.recordsRecalled.inc();
      onRecalled(row);
    };
    let together: Array<Promise<boolean>> = [];
    for (const text of file.texts()) {
      together.push(this.#retrying(() => recall(text)));
      if (together.length < gatewayLimits.recordsRecalledTogether) continue;
      if (!(await areAll(together))) return false;
      together = [];
    }
    return await areAll(together);
  }

  /** False only if the recorder stops first. */
  async #dispatch(records: readonly Waiting[]): Promise<boolean> {
    const { acceptCalls, metrics } = this.#deps;
    let together: Array<Promise<boolean>> = [];
    for (const batch of batchesOf(records)) {
      const accept = (isRecalled: boolean): Promise<void> => {
        const calls = batch.flatMap(({ call, text }) => call ?? readCall(text) ?? []);
        for (const record of batch) record.call = undefined;
        return acceptCalls(calls, { isRecalled }).then(({ refused }) => {
          metrics.recordsLost.inc(refused);
          for (const record of batch) this.#count(record, -1);
        });
      };
      together.push(this.#retrying(accept));
      // Calls in progress wait for one batch at most.
      await nextTurn();
      if (together.length < gatewayLimits.recordBatchesTogether) continue;
      if (!(await areAll(together))) return false;
      together = [];
    }
    return await areAll(together);
  }

  /**
   * Repeats until the journal accepts. False only if the recorder stops first.
   * @param accept gets whether an earlier attempt may have been accepted: `unavailable` means that it was not
   */
  async #retrying(accept: (isRecalled: boolean) => Promise<void>): Promise<boolean> {
    const { metrics, logger } = this.#deps;
    const { signal } = this.#stopping;
    let retryMs: number = gatewayLimits.recordRetryMinMs;
    let isRecalled = false;
    while (!signal.aborted) {
      try {
        await accept(isRecalled);
        return true;
      } catch (error) {
        isRecalled ||= !(error instanceof ServiceError);
        metrics.recordRetries.inc();
        logger.warn({ err: error }, "spans of gateway calls wait for the journal");
        await sleep(retryMs, undefined, { signal }).catch(() => undefined);
        retryMs = Math.min(retryMs * 2, gatewayLimits.recordRetryMaxMs);
      }
    }
    return false;
  }
}

async function areAll(outcomes: ReadonlyArray<Promise<boolean>>): Promise<boolean> {
  return (await Promise.all(outcomes)).every((isDone) => isDone);
}

/** Bytes that a waiting call occupies, about: as text whose characters take two bytes, and as values. */
function memoryOf(text: string): number {
  return text.length * 4 + 1_000;
}

/** Batches that may go in one request: of one organization and of limited size. */
function* batchesOf(records: readonly Waiting[]): Generator<Waiting[]> {
  const open = new Map<string, { batch: Waiting[]; chars: number }>();
  for (const record of records) {
    const { organizationId, text } = record;
    const { batch, chars } = open.get(organizationId) ?? { batch: [], chars: 0 };
    const isFull = batch.length >= gatewayLimits.recordBatch || chars + text.length > gatewayLimits.recordBatchChars;
    if (batch.length > 0 && isFull) {
      yield batch;
      open.set(organizationId, { batch: [record], chars: text.length });
    } else {
      batch.push(record);
      open.set(organizationId, { batch, chars: chars + text.length });
    }
  }
  for (const { batch } of open.values()) yield batch;
}
