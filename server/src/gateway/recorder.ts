import type { Logger } from "pino";
import { setTimeout as sleep } from "node:timers/promises";
import { ServiceError } from "../domain/errors.ts";
import type { RowOutcome, SpanIntake } from "../ingest/accept.ts";
import type { SpanOrigin } from "../ingest/normalize.ts";
import { limits } from "../limits.ts";
import type { GatewayMetrics } from "../telemetry/gateway-metrics.ts";

/** One call's span on its way to the journal. */
export type SpanRecord = {
  body: Record<string, unknown>;
  origin: SpanOrigin;
  identity: Buffer;
  /** About how much memory it holds. */
  bytes: number;
};

/**
 * Hands the spans of finished calls to the intake, many at a time and never on a caller's time. While the journal takes
 * none they wait here, within bounds; at the bounds the gateway takes no further calls, so that no call goes unrecorded.
 */
export type Recorder = {
  add(record: SpanRecord): void;
  /**
   * Sees a call through that may end in a record.
   * @throws ServiceError `unavailable`, before it begins, when its record might find no room.
   */
  during(call: () => Promise<void>): Promise<void>;
  /** Waits until the calls under way have ended and all is recorded, `graceMs` at most. */
  stop(graceMs: number): Promise<void>;
};

export type RecorderDeps = {
  intake: SpanIntake;
  metrics: GatewayMetrics;
  logger: Logger;
  maxRecords?: number;
};

export function createRecorder({
  intake,
  metrics,
  logger,
  maxRecords = limits.recordsWaiting,
}: RecorderDeps): Recorder {
  let callsUnderWay = 0;
  let waiting: SpanRecord[] = [];
  let waitingBytes = 0;
  let flushing: Promise<void> | undefined;
  let isScheduled = false;
  const stopping = new AbortController();
  metrics.watchRecords(() => waiting.length);

  const flush = async (): Promise<void> => {
    let retryMs: number = limits.recordRetryMinMs;
    while (waiting.length > 0 && !stopping.signal.aborted) {
      const batch = takeBatch(waiting);
      try {
        await acceptAll(intake, [...batch], logger);
        waiting = waiting.filter((record) => !batch.has(record));
        for (const { bytes } of batch) waitingBytes -= bytes;
        retryMs = limits.recordRetryMinMs;
      } catch (error) {
        metrics.recordRetries.inc();
        logger.warn({ err: error }, "spans of gateway calls wait for the journal");
        await sleep(retryMs, undefined, { signal: stopping.signal }).catch(() => undefined);
        retryMs = Math.min(retryMs * 2, limits.recordRetryMaxMs);
      }
    }
    flushing = undefined;
  };
  const begin = (): void => {
    isScheduled = false;
    if (waiting.length > 0) flushing ??= flush();
  };

  return {
    add(record) {
      waiting.push(record);
      waitingBytes += record.bytes;
      if (flushing !== undefined || isScheduled) return;
      isScheduled = true;
      // Off the callers' paths, and with what ends meanwhile: a flush of the disk costs more than many records.
      setTimeout(begin, limits.recordBatchMs);
    },
    async during(call) {
      if (waiting.length >= maxRecords || waitingBytes >= limits.recordBytesWaiting) {
        metrics.refusedFull.inc();
        const message = "Too many finished calls wait to be recorded. Please try again.";
        throw new ServiceError("unavailable", message, { retryAfterS: 1 });
      }
      callsUnderWay += 1;
      try {
        await call();
      } finally {
        callsUnderWay -= 1;
      }
    },
    async stop(graceMs) {
      const deadline = performance.now() + graceMs;
      begin();
      while (waiting.length + callsUnderWay > 0 && performance.now() < deadline) await sleep(limits.recordDrainPollMs);
      stopping.abort();
      await flushing;
      if (waiting.length === 0) return;
      metrics.recordsLost.inc(waiting.length);
      logger.error({ spans: waiting.length }, "spans of gateway calls were lost: the journal did not take them");
    },
  };
}

/** Records that may go in one request: of one key, and not too many bytes. */
function takeBatch(waiting: readonly SpanRecord[]): Set<SpanRecord> {
  const batch = new Set<SpanRecord>();
  const [first] = waiting;
  let bytes = 0;
  for (const record of waiting) {
    if (!isSame(record.origin, first?.origin)) continue;
    bytes += record.bytes;
    if (batch.size > 0 && (bytes > limits.recordBatchBytes || batch.size >= limits.recordBatch)) break;
    batch.add(record);
  }
  return batch;
}

function isSame(a: SpanOrigin, b: SpanOrigin | undefined): boolean {
  return a === b || (a.organization_key_id === b?.organization_key_id && a.organization_id === b.organization_id);
}

/** @throws ServiceError `unavailable` when the journal takes none */
async function acceptAll(intake: SpanIntake, batch: readonly SpanRecord[], logger: Logger): Promise<void> {
  const [first] = batch;
  if (first === undefined) return;
  const accept = (records: readonly SpanRecord[]): Promise<RowOutcome[]> =>
    intake.accept(
      records.map(({ body }) => body),
      first.origin,
      { identities: records.map(({ identity }) => identity) },
    );
  const refused = (records: readonly SpanRecord[], outcomes: readonly RowOutcome[]): SpanRecord[] =>
    records.flatMap((record, index) => {
      const outcome = outcomes[index];
      if (outcome === undefined || outcome.ok) return [];
      return [{ ...record, body: withoutFields(record.body, Object.keys(outcome.errors), outcome.code) }];
    });
  // A call is recorded whatever it holds: without the fields that the store cannot hold, at last without any content.
  let left = refused(batch, await accept(batch));
  if (left.length > 0) left = refused(left, await accept(left));
  if (left.length > 0)
    left = refused(left, await accept(left.map((record) => ({ ...record, body: bare(record.body) }))));
  if (left.length > 0) logger.error({ spans: left.length }, "spans of gateway calls were refused");
}

const content = ["prompt_messages", "completion_message", "completion_messages", "tools", "response_format"];

function withoutFields(
  body: Record<string, unknown>,
  fields: readonly string[],
  code: string,
): Record<string, unknown> {
  const left = code === "payload_too_large" || fields.includes("body") ? [...fields, ...content] : fields;
  const kept = Object.fromEntries(Object.entries(body).filter(([name]) => !left.includes(name)));
  const warnings = Array.isArray(kept["warnings"]) ? (kept["warnings"] as unknown[]) : [];
  return { ...kept, warnings: [...warnings, `left out, as the store cannot hold it: ${left.join(", ")}`] };
}

const bareFields = new Set([
  "log_type",
  "model",
  "provider_id",
  "start_time",
  "timestamp",
  "latency",
  "status_code",
  "usage",
]);

function bare(body: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([name]) => bareFields.has(name)));
}
