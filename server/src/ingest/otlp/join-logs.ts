import type { Condition } from "../../filter/ast.ts";
import type { Catalogue } from "../../filter/catalogue.ts";
import { toClickHouse } from "../../filter/to-clickhouse.ts";
import { isObject, parseJsonText } from "../../lib/json.ts";
import { domainLimits } from "../../domain/limits.ts";
import { ingestLimits } from "../limits.ts";
import type { NewLogRecord, PendingLogRecords } from "../../storage/journal/pending-log-records.ts";
import type { Journal } from "../../storage/journal/journal.ts";
import type { SpanStore, StoredSpan } from "../../storage/spans/span-store.ts";
import { llmLogTypes, spanColumns, type SpanColumn, type SpanRow } from "../../domain/span.ts";
import type { SpanIntake } from "../accept/accept.ts";
import { spanIdentity } from "../../domain/identity.ts";
import type { SpanOrigin } from "../normalize/normalize.ts";
import { inlineMedia } from "../media/inline-media.ts";
import { serviceLogMethods } from "../normalize/wire-fields.ts";
import { asContentRecord } from "./agent-logs/read-agent-logs.ts";
import { asText } from "./attribute-bag.ts";
import type { AttributeValue, ExportRequest, OtlpEvent, OtlpLogRecord } from "./export-request.ts";
import { maxTimeNs, minTimeNs, parseTimeNs } from "../../lib/time.ts";
import { Problem, createNestedJson, type NestedJson } from "../../validation/field-readers.ts";
import { saysContent } from "./conventions/gen-ai-events.ts";
import { callEvents, callOf, isAroundCall, type Call } from "./details-events.ts";
import { completed, isJoined, spanOfEvents } from "./joined-span.ts";

/**
 * Adds log records that belong to spans, such as messages, to these spans, in either order of arrival and also if span
 * and records reached different nodes: a record waits on disk until its span is accepted here or found in the span
 * store.
 */
export type LogJoiner = {
  /**
   * Keeps the records of an export that belong to a span (`isJoined`); all others are dropped. Resolves once they are
   * on disk, with the number of records kept.
   * @throws ServiceError `unavailable`
   */
  accept(request: ExportRequest<OtlpLogRecord>, origin: SpanOrigin): Promise<number>;
  /** The events that wait for a span that is being accepted now. */
  eventsFor(origin: SpanOrigin, span: { traceId: string; spanId: string }): readonly OtlpEvent[];
  /** Completes stored spans with the events that wait for them; gives up on spans that never arrive. */
  joinWaiting(signal: AbortSignal): Promise<void>;
};

export type LogJoinerDeps = {
  events: PendingLogRecords;
  spans: Pick<SpanStore, "listSpans" | "readMedia">;
  catalogue: Catalogue<SpanRow>;
  intake: Pick<SpanIntake, "accept">;
  journal: Pick<Journal, "lookup">;
  /** Milliseconds since the epoch. */
  now: () => number;
};

/** The part of a log record that is needed to join it later. */
type WaitingRecord = {
  origin: SpanOrigin;
  traceId: string;
  spanId: string;
  name: string;
  timeNs: string;
  attributes: Array<[string, AttributeValue]>;
};

type Waiting = { key: string; sinceMs: number; count: number; records: WaitingRecord[]; first: WaitingRecord };

export function createLogJoiner(deps: LogJoinerDeps): LogJoiner {
  const { events, now } = deps;
  const triedMs = new Map<string, number>();
  /** The pause between lookups is half the time waited so far: spans that never arrive cost less and less. */
  const isDue = ({ key, sinceMs }: { key: string; sinceMs: number }): boolean => {
    const waitedMs = now() - sinceMs;
    const pauseMs = Math.min(waitedMs / 2, ingestLimits.otlpJoinPauseMs);
    return waitedMs >= ingestLimits.otlpJoinAfterMs && now() - (triedMs.get(key) ?? 0) >= pauseMs;
  };
  return {
    async accept(request, origin) {
      const nested = createNestedJson(domainLimits.bodyNodes);
      const entries = request.groups.flatMap(({ scope, items }) =>
        items.flatMap((record) => entryOf(asContentRecord(record, scope.name), origin, nested)),
      );
      await events.add(entries);
      for (const { key } of entries) triedMs.delete(key);
      return entries.length;
    },
    eventsFor(origin, { traceId, spanId }) {
      if (events.isEmpty()) return [];
      return recordsOf(events.textsOf(keyOf(origin, traceId, spanId))).map(eventOf);
    },
    async joinWaiting(signal) {
      // A span that was just accepted is not in the store yet: young records wait for the next round.
      for (const batch of batchesOf(events.pending().filter(isDue))) {
        signal.throwIfAborted();
        // Records are read batch by batch: all of them together may be very large.
        await joinBatch(
          batch.flatMap((span) => waitingOf(span, events)),
          deps,
          signal,
        );
        for (const { key } of batch) {
          if (events.textsOf(key).length === 0) triedMs.delete(key);
          else triedMs.set(key, now());
        }
      }
    },
  };
}

/** The organization of the spans that wait under this key. */
export function partyOfKey(key: string): string {
  return key.slice(0, key.indexOf("\n"));
}

function keyOf({ organization_id, environment }: SpanOrigin, traceId: string, spanId: string): string {
  return [organization_id, environment, traceId, spanId].join("\n");
}

function entryOf(record: OtlpLogRecord, origin: SpanOrigin, nested: NestedJson): NewLogRecord[] {
  const { traceId, spanId, timeNs } = record;
  const name = nameOf(record);
  if (traceId === "" || spanId === "" || !isJoined(name, record)) return [];
  const body = Object.entries(membersOfBody(record.body, name, nested));
  const attributes = [...new Map([...body, ...record.attributes])].filter(([key]) => !nameKeys.includes(key));
  const records: WaitingRecord = { origin, traceId, spanId, name, timeNs: timeNs.toString(), attributes };
  return [{ key: keyOf(origin, traceId, spanId), text: JSON.stringify(records) }];
}

/** The members of the body, which may be JSON text; other text is the content. */
function membersOfBody(body: AttributeValue, name: string, nested: NestedJson): Record<string, AttributeValue> {
  const tree = typeof body === "string" ? nested.read(body) : body;
  if (isObject(tree) && !(tree instanceof Problem)) return tree as Record<string, AttributeValue>;
  return typeof body === "string" && body !== name && saysContent(name) ? { content: body } : {};
}

const nameKeys = ["event.name", "event_name"];

/** Since 2025 the name has its own field; before, it was an attribute or the body. */
function nameOf({ eventName, attributes, body }: OtlpLogRecord): string {
  if (eventName !== "") return eventName;
  const [named] = nameKeys.flatMap((key) => asText(attributes.get(key)) ?? []);
  return named ?? (typeof body === "string" ? body : "");
}

function recordsOf(texts: readonly string[]): WaitingRecord[] {
  // An exporter that got no response sends its records again.
  return [...new Set(texts)].slice(0, ingestLimits.otlpEventsPerSpan).flatMap((text) => {
    const parsed = parseJsonText(text);
    return parsed.ok ? [asRecord(parsed.value)] : [];
  });
}

/** Safe because only `entryOf` writes these texts. */
function asRecord(value: unknown): WaitingRecord {
  return value as WaitingRecord;
}

function eventOf({ name, timeNs, attributes }: WaitingRecord): OtlpEvent {
  return { name, timeNs: BigInt(timeNs), attributes: new Map(attributes) };
}

/** Waiting spans by organization and environment, in batches of bounded size. */
function batchesOf<Span extends { key: string }>(waiting: readonly Span[]): Span[][] {
  const byScope = Map.groupBy(waiting, ({ key }) => key.split("\n", 2).join("\n"));
  return [...byScope.values()].flatMap((list) => {
    const batches: Span[][] = [];
    for (let from = 0; from < list.length; from += ingestLimits.otlpJoinBatch) {
      batches.push(list.slice(from, from + ingestLimits.otlpJoinBatch));
    }
    return batches;
  });
}

/** Empty if its records were joined meanwhile. */
function waitingOf({ key, sinceMs }: { key: string; sinceMs: number }, events: PendingLogRecords): Waiting[] {
  const texts = events.textsOf(key);
  const records = recordsOf(texts);
  const [first] = records;
  return first === undefined ? [] : [{ key, sinceMs, count: texts.length, records, first }];
}

async function joinBatch(batch: readonly Waiting[], deps: LogJoinerDeps, signal: AbortSignal): Promise<void> {
  const stored = await storedSpans(batch, deps, signal);
  for (const { key, sinceMs, count, records, first } of batch) {
    const row = stored.get(`${first.traceId}\n${first.spanId}`);
    const joinedEvents = records.map(eventOf);
    const calls = row && isAroundCall(row.log_type, joinedEvents) ? await callsOf(first, deps, signal) : undefined;
    const waitedMs = deps.now() - sinceMs;
    const isLate = waitedMs > ingestLimits.otlpJoinMs;
    if (!isLate && (!row || isOutdated(row, first, deps.journal))) continue;
    const homes = row ? homesOf(row, joinedEvents, calls) : new Map<StoredSpan, OtlpEvent[]>();
    // The call that they belong to may not be exported yet.
    const stray = row && calls ? callEvents(homes.get(row) ?? []).ofCall : [];
    if (stray.length > 0 && waitedMs < ingestLimits.otlpJoinPauseMs) continue;
    const isUpToDate = (home: StoredSpan): boolean =>
      isLate || !isOutdated(home, { ...first, spanId: home.span_unique_id ?? "" }, deps.journal);
    let isDone = true;
    for (const [home, events] of homes) {
      const whole = await withMedia(home, first.origin, deps.spans, signal);
      isDone = isUpToDate(home);
      if (!isDone) break;
      const body = completed(whole, events);
      if (body) await deps.intake.accept([body], originOfRow(home, first.origin));
    }
    if (!isDone) continue;
    const body = row ? undefined : spanOfEvents(first, joinedEvents);
    if (body) await deps.intake.accept([body], first.origin);
    await deps.events.remove(key, count);
  }
}

/**
 * A stored span with its media inlined: a new version that only contained references would not own the media, which
 * would be deleted.
 */
async function withMedia(
  row: StoredSpan,
  { organization_id, environment }: SpanOrigin,
  spans: LogJoinerDeps["spans"],
  signal: AbortSignal,
): Promise<StoredSpan> {
  const trace = { trace_unique_id: row.trace_unique_id ?? "", environments: [environment] };
  const json = JSON.stringify(row);
  const whole = await inlineMedia(spans, { organization_id, trace }, json, signal);
  return whole === undefined || whole === json ? row : asStoredSpan(JSON.parse(whole));
}

/** Safe because it is the JSON of a stored span with other texts in it. */
function asStoredSpan(value: unknown): StoredSpan {
  return value as StoredSpan;
}

type StoredCall = Call & { row: StoredSpan };

/** The spans that records complete: the one that they name, or the matching ones of `calls`. */
function homesOf(
  row: StoredSpan,
  joinedEvents: readonly OtlpEvent[],
  calls: readonly StoredCall[] | undefined,
): ReadonlyMap<StoredSpan, OtlpEvent[]> {
  if (!calls) return new Map([[row, [...joinedEvents]]]);
  const { ofCall, others } = callEvents(joinedEvents);
  const homes = new Map<StoredSpan, OtlpEvent[]>(others.length > 0 ? [[row, others]] : []);
  for (const event of ofCall) {
    const home = callOf(event, row.span_unique_id ?? "", calls)?.row ?? row;
    homes.set(home, [...(homes.get(home) ?? []), event]);
  }
  return homes;
}

/** The calls of the trace, without those with a newer version on its way to the store. */
async function callsOf(first: WaitingRecord, deps: LogJoinerDeps, signal: AbortSignal): Promise<StoredCall[]> {
  const ofTrace = await listSpans([isOneOf("trace_unique_id", [first.traceId])], first, deps, signal);
  return ofTrace
    .filter((row) => (llmLogTypes as readonly unknown[]).includes(row.log_type))
    .filter((row) => !isOutdated(row, { ...first, spanId: row.span_unique_id ?? "" }, deps.journal))
    .map(callOfRow);
}

function callOfRow(row: StoredSpan): StoredCall {
  return {
    row,
    model: row.model ?? "",
    parent: row.span_parent_id ?? "",
    startNs: parseTimeNs(row.start_time ?? "") ?? 0n,
    endNs: parseTimeNs(row.timestamp ?? "") ?? 0n,
    isAnswered: (row.completion_message ?? "") !== "",
  };
}

/**
 * Whether the span was sent again since it was read: completing the old version now would replace the new one. No
 * `await` may come between this check and the acceptance. Once records have waited too long (`isLate`), a newer version
 * that the store still lacks is ignored: it will never be stored.
 */
function isOutdated(
  row: StoredSpan,
  { origin, traceId, spanId }: WaitingRecord,
  journal: LogJoinerDeps["journal"],
): boolean {
  const { organization_id, environment } = origin;
  const last = journal.lookup(spanIdentity({ organization_id, environment, trace: traceId, span: spanId }));
  return last !== undefined && last.version > BigInt(row.version);
}

const allColumns = Object.keys(spanColumns) as SpanColumn[];

async function storedSpans(
  batch: readonly Waiting[],
  deps: LogJoinerDeps,
  signal: AbortSignal,
): Promise<Map<string, StoredSpan>> {
  const [head] = batch;
  if (!head) return new Map();
  const idsOf = (id: "traceId" | "spanId"): string[] => batch.map(({ first }) => first[id]);
  const filters = [isOneOf("trace_unique_id", idsOf("traceId")), isOneOf("span_unique_id", idsOf("spanId"))];
  const rows = await listSpans(filters, head.first, deps, signal);
  return new Map(rows.map((row) => [`${row.trace_unique_id ?? ""}\n${row.span_unique_id ?? ""}`, row]));
}

function isOneOf(field: string, values: readonly string[]): Condition {
  return { type: "condition", field, operator: "equal", values: [...new Set(values)] };
}

async function listSpans(
  filters: readonly Condition[],
  { origin: { organization_id, environment } }: WaitingRecord,
  { spans, catalogue }: LogJoinerDeps,
  signal: AbortSignal,
): Promise<readonly StoredSpan[]> {
  const { rows } = await spans.listSpans(
    {
      scope: { organization_id, environment },
      window: { fromNs: minTimeNs, toNs: maxTimeNs },
      filter: toClickHouse({ type: "all", filters: [...filters] }, catalogue),
      sort: { field: "timestamp", descending: true },
      page: 1,
      pageSize: ingestLimits.otlpJoinBatch * 2,
      fields: allColumns,
    },
    signal,
  );
  return rows;
}

function originOfRow(row: StoredSpan, origin: SpanOrigin): SpanOrigin {
  const { log_method = "" } = row;
  return {
    ...origin,
    // Spans of gateway calls keep their log method, which a body cannot set.
    log_method: serviceLogMethods.has(log_method) ? log_method : origin.log_method,
    organization_key_id: row.organization_key_id ?? origin.organization_key_id,
    organization_key_name: row.organization_key_name ?? origin.organization_key_name,
  };
}
