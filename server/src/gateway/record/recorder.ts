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
 * Hands the spans of finished calls to the intake, many at a time and never on a caller's time. Until they are in the journal
 * they lie in the spool, so that a process that dies loses none of them. While the journal takes none they wait, within
 * bounds; at the bounds the gateway takes no further calls, so that no call goes unrecorded.
 */
export type Recorder = {
  /** True for the first call that has this identity; those after it are spans of their own, as no call may replace another. */
  claim(identity: Buffer): boolean;
  /** Hands on what an earlier process left, and waits for that, but not for a journal that takes none. */
  start(): Promise<void>;
  /**
   * Records with all calls that end in this turn of the event loop; at once where no other call is under way.
   * @param onSafe called when the record outlives this process, unless the spool fails: the last byte of the answer may go out
   */
  add(record: SpanRecord, onSafe?: () => void): void;
  /**
   * Sees a call through that may end in a record.
   * @throws ServiceError `unavailable`, before it begins, when its record might find no room, of all or of its organisation.
   */
  during(organizationId: string, call: () => Promise<void>): Promise<void>;
  /** Whether an organization that has no records waiting could make a call. */
  hasRoom(): boolean;
  /** Hands on at once the records of calls that have been answered, and waits for that, `timeoutMs` at most. */
  caughtUp(timeoutMs: number): Promise<boolean>;
  /** Waits until the calls under way have ended and all is recorded, `graceMs` at most. */
  stop(graceMs: number): Promise<void>;
};

export type RecorderDeps = {
  intake: Pick<SpanIntake, "prepare" | "prepareRead" | "hold" | "acceptHeld">;
  spool: Pick<CallSpool, "append" | "turn" | "left">;
  metrics: GatewayMetrics;
  logger: Logger;
  /** Told of each record that an earlier process left, before it is handed on. */
  onRecalled: (row: SpanRow) => void;
  maxRecords?: number;
};

/** `bytes` is about how much memory it holds. */
type Waiting = { span: HeldSpan; bytes: number; isSpooled: boolean };

type Ended = { record: SpanRecord; onSafe: (() => void) | undefined };

export function createRecorder(deps: RecorderDeps): Recorder {
  return new SpooledRecorder(deps);
}

class SpooledRecorder implements Recorder {
  readonly #deps: RecorderDeps;
  #callsUnderWay = 0;
  /** All that the journal does not have, but for what an earlier process left. */
  readonly #records: FairShare;
  readonly #bytes = new FairShare(gatewayLimits.recordBytesWaiting);
  #unspooled = 0;
  /** What of it no flush has begun with. */
  #waiting: Waiting[] = [];
  /** In which the lines of those lie. */
  #waitingBytes: Buffer[] = [];
  readonly #left: LeftRecords[];
  #flushing: Promise<void> | undefined;
  #isScheduled = false;
  /** Calls that ended in this turn of the loop. */
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

  /** One write for all calls that ended together: a system call for each would cost more than the rest of its record. */
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
        logger.error({ err: error }, "the answer of a gateway call could not be ended");
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

  /** With what ends meanwhile: a commit of the journal costs as much as a hundred records in it. */
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
    // A flush that is under way may have begun before the last of them.
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
      if (span === undefined) logger.error("what an earlier process left as the record of a call is none");
      else {
        metrics.recordsRecalled.inc();
        if (span.row !== undefined) onRecalled(span.row);
        yield { span, bytes: memoryOf(span), isSpooled: true };
      }
    }
  }

  /** A few batches at a time, which the journal commits together: on a busy core each commit waits for its turn. */
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

  /** False only when the recorder stops first. */
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

/** The line, and the row with it where it is held. */
function memoryOf({ line, row }: HeldSpan): number {
  return (row === undefined ? 1 : 3) * line.length + 2_000;
}

/** Records that may go in one request: of one organisation, and not too many bytes. */
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
