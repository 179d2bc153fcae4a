import type { Logger } from "pino";
import { setTimeout as sleep } from "node:timers/promises";
import type { SpanRow } from "../../domain/span.ts";
import { ServiceError } from "../../domain/errors.ts";
import type { SpanIntake } from "../../ingest/accept/accept.ts";
import { recallSpan, type HeldSpan, type PreparedSpan } from "../../ingest/accept/prepared-span.ts";
import { ExpiringLru } from "../../lib/expiring-lru.ts";
import { freeBytes } from "../../lib/free-bytes.ts";
import { TurnQueue } from "../../lib/turn-queue.ts";
import { FairShare } from "../../lib/fair-share.ts";
import { gatewayLimits } from "../limits.ts";
import type { CallSpool, LeftRecords } from "../../storage/journal/call-spool.ts";
import type { GatewayMetrics } from "../../telemetry/gateway-metrics.ts";
import { prepareRecord, type SpanRecord } from "./prepare-record.ts";

/**
 * Passes the spans of finished calls to the intake, in batches and never on a caller's time. Until the journal has them
 * they are in the spool, so that a process that dies loses none. While the journal accepts nothing they wait, within
 * limits; at the limits the gateway accepts no further calls, so that no call goes unrecorded.
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
  add(record: SpanRecord, onSafe?: () => void): void;
  /**
   * Runs a call that may end in a record.
   * @throws ServiceError `unavailable`, before it begins, if there might be no room for its record, overall or for its
   * organization
   */
  during(organizationId: string, call: () => Promise<void>): Promise<void>;
  /** Whether an organization without waiting records could make a call. */
  hasRoom(): boolean;
  /** Dispatches the records of answered calls right away, and waits for that for at most `timeoutMs`. */
  caughtUp(timeoutMs: number): Promise<boolean>;
  /** Waits for at most `graceMs` until the running calls have ended and everything is recorded. */
  stop(graceMs: number): Promise<void>;
};

export type RecorderDeps = {
  intake: Pick<SpanIntake, "prepare" | "prepareRead" | "hold" | "acceptHeld">;
  spool: Pick<CallSpool, "append" | "turn" | "left">;
  metrics: GatewayMetrics;
  logger: Logger;
  /** Called with each record that an earlier process left, before it is dispatched. */
  onRecalled: (row: SpanRow) => void;
  maxRecords?: number;
};

/** `bytes` is the approximate memory that it occupies. */
type Waiting = { span: HeldSpan; bytes: number; isSpooled: boolean };

type Ended = { record: SpanRecord; onSafe: (() => void) | undefined };

export function createRecorder(deps: RecorderDeps): Recorder {
  return new SpooledRecorder(deps);
}

class SpooledRecorder implements Recorder {
  readonly #deps: RecorderDeps;
  #callsUnderWay = 0;
  /** Everything that the journal does not have yet, except what an earlier process left. */
  readonly #records: FairShare;
  readonly #bytes = new FairShare(gatewayLimits.recordBytesWaiting);
  #unspooled = 0;
  /** The part that no flush has started on. */
  #waiting: Waiting[] = [];
  /** The buffers that contain the lines of those. */
  #waitingBytes: Buffer[] = [];
  readonly #left: LeftRecords[];
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
    this.#left = [...deps.spool.left];
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

  add(record: SpanRecord, onSafe?: () => void): void {
    this.#ended.add({ record, onSafe }, this.#callsUnderWay === 1);
  }

  /** Writes once for all calls that ended together: a system call each would cost more than the rest of the record. */
  #write(ended: readonly Ended[]): void {
    const { intake, spool, metrics, logger } = this.#deps;
    const spans: PreparedSpan[] = [];
    for (const { record } of ended) {
      const span = prepareRecord(intake, record, logger);
      if (span === undefined) metrics.recordsLost.inc();
      else spans.push(span);
    }
    const { spans: held, bytes } = intake.hold(spans);
    this.#waitingBytes.push(bytes);
    const areSpooled = spool.append(held.map(({ line }) => line));
    for (const [index, span] of held.entries()) {
      const isSpooled = areSpooled[index] === true;
      if (!isSpooled) metrics.recordsUnspooled.inc();
      this.#hold({ span, bytes: memoryOf(span), isSpooled });
    }
    for (const { onSafe } of ended) {
      try {
        onSafe?.();
      } catch (error) {
        logger.error({ err: error }, "the response of a gateway call could not be ended");
      }
    }
  }

  #hold(record: Waiting): void {
    this.#count(record, 1);
    this.#waiting.push(record);
    if (this.#flushing === undefined) this.#schedule();
  }

  #count({ span, bytes, isSpooled }: Waiting, by: 1 | -1): void {
    const { organization_id: party } = span.subject;
    if (by === 1) {
      this.#records.add(party, 1);
      this.#bytes.add(party, bytes);
    } else {
      this.#records.giveBack(party, 1);
      this.#bytes.giveBack(party, bytes);
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
    return this.#records.held + this.#ended.size;
  }

  hasRoom(): boolean {
    return this.#hasRoomFor("");
  }

  #hasRoomFor(party: string): boolean {
    return this.#records.room(party) > this.#ended.size && this.#bytes.room(party) > 0;
  }

  async during(organizationId: string, call: () => Promise<void>): Promise<void> {
    if (!this.#hasRoomFor(organizationId)) {
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
    // A running flush may have begun before the last of them.
    const handOn = async (): Promise<boolean> => {
      await this.#flushing;
      this.#begin();
      await this.#flushing;
      return true;
    };
    if (this.#records.held === 0) return true;
    return await Promise.race([handOn(), sleep(timeoutMs, false, { ref: false })]);
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
    const [records, lost] = [this.#records.held, this.#unspooled];
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
      if (await this.#handOnAll(this.#recalled(file))) file.forget();
    }
    if (this.#waiting.length > 0 && !this.#stopping.signal.aborted) {
      const [records, buffers] = [this.#waiting, this.#waitingBytes];
      [this.#waiting, this.#waitingBytes] = [[], []];
      const forget = spool.turn();
      if (await this.#handOnAll(records)) {
        forget();
        for (const bytes of buffers) freeBytes(bytes);
      }
    }
    this.#flushing = undefined;
    if (this.#waiting.length > 0) this.#schedule();
  }

  *#recalled(file: LeftRecords): Generator<Waiting> {
    const { metrics, logger, onRecalled } = this.#deps;
    for (const text of file.texts()) {
      const span = recallSpan(text);
      if (span === undefined) logger.error("a call record of an earlier process is unreadable");
      else {
        metrics.recordsRecalled.inc();
        if (span.row !== undefined) onRecalled(span.row);
        yield { span, bytes: memoryOf(span), isSpooled: true };
      }
    }
  }

  /**
   * Dispatches a few batches at a time, which the journal commits together: on a busy core each commit waits for its
   * turn.
   */
  async #handOnAll(records: Iterable<Waiting>): Promise<boolean> {
    let together: Array<Promise<boolean>> = [];
    const areTaken = async (): Promise<boolean> => (await Promise.all(together)).every((isTaken) => isTaken);
    for (const batch of batchesOf(records)) {
      together.push(this.#handOn(batch));
      if (together.length < gatewayLimits.recordBatchesTogether) continue;
      if (!(await areTaken())) return false;
      together = [];
    }
    return await areTaken();
  }

  /** False only if the recorder stops first. */
  async #handOn(batch: readonly Waiting[]): Promise<boolean> {
    const { intake, metrics, logger } = this.#deps;
    const { signal } = this.#stopping;
    let retryMs: number = gatewayLimits.recordRetryMinMs;
    while (!signal.aborted) {
      try {
        await intake.acceptHeld(batch.map(({ span }) => span));
        for (const record of batch) if (!record.span.isRecalled) this.#count(record, -1);
        return true;
      } catch (error) {
        metrics.recordRetries.inc();
        logger.warn({ err: error }, "spans of gateway calls wait for the journal");
        await sleep(retryMs, undefined, { signal }).catch(() => undefined);
        retryMs = Math.min(retryMs * 2, gatewayLimits.recordRetryMaxMs);
      }
    }
    return false;
  }
}

/** The size of the line, and of the row if it is in memory. */
function memoryOf({ line, row }: HeldSpan): number {
  return (row === undefined ? 1 : 3) * line.length + 2_000;
}

/** Batches that may go in one request: of one organization and of limited size. */
function* batchesOf(records: Iterable<Waiting>): Generator<Waiting[]> {
  const open = new Map<string, { batch: Waiting[]; bytes: number }>();
  for (const record of records) {
    const organizationId = record.span.subject.organization_id;
    const { batch, bytes } = open.get(organizationId) ?? { batch: [], bytes: 0 };
    if (
      batch.length > 0 &&
      (batch.length >= gatewayLimits.recordBatch || bytes + record.bytes > gatewayLimits.recordBatchBytes)
    ) {
      yield batch;
      open.set(organizationId, { batch: [record], bytes: record.bytes });
    } else {
      batch.push(record);
      open.set(organizationId, { batch, bytes: bytes + record.bytes });
    }
  }
  for (const { batch } of open.values()) yield batch;
}
