import type { Cutoffs, DeletionProgress, Expired } from "./expired-spans.ts";
import type { Media, MediaOwner } from "../../domain/media.ts";
import type {
  ColumnKind,
  CountedColumn,
  countedColumns,
  ReadColumn,
  SpanColumn,
  SpanScope,
  spanColumns,
} from "../../domain/span.ts";
import type { CustomerKey } from "../../domain/customer.ts";
import type { TraceDeletion } from "../../domain/trace.ts";
import type {
  CustomerPageKey,
  DescribeCustomersQuery,
  ListCustomersQuery,
  StoredCustomer,
} from "./customer-queries.ts";
import type { RawSpan } from "./raw-span.ts";
import type { SeesEdits, SpanEditing } from "./span-editing.ts";
import type { SpanExports } from "./span-export.ts";
import type { ListThreadsQuery, StoredThread } from "./thread-queries.ts";
import type {
  ListTraceSpansQuery,
  ListTracesQuery,
  SmallTraceQuery,
  StoredTrace,
  TracePlace,
  TraceWeight,
} from "./trace-queries.ts";
import type { ReceivedReads } from "./received-spans.ts";
import type { ListSpansQuery, SpanPage } from "./span-list.ts";
import type { SpanSums } from "./span-sums.ts";
import type { SpanFacets, SpanFacetsQuery } from "./span-facets.ts";
import type { TraceSeriesQuery } from "./trace-series.ts";
import type { Percentiles, SeriesKey, SpanSeriesReads, SpanSeriesResult } from "./span-series.ts";
import type { UsageReads } from "./usage-facts.ts";

/**
 * Where spans live: ClickHouse, in the process or behind a URL. One contract, proven on both by `contract/`.
 *
 * Every read sees each span once: of the rows of one key (organisation, environment, timestamp, unique_id) the highest
 * version, and none where that one is a tombstone (`is_deleted` = 1).
 *
 * Every read fails with `ServiceError`: `query_too_large` when it took more time or memory than it may, `unavailable`
 * when the store cannot be reached or too many queries wait. Reads whose signal is aborted reject with its reason.
 */
export type SpanStore = SpanExports &
  SpanEditing &
  ReceivedReads &
  SpanSeriesReads &
  UsageReads &
  SpanSums & {
    /** Brings the tables up to date. Any number of nodes may do so at once. */
    migrate(): Promise<void>;

    /**
     * Stores ready rows: `ndjson` holds `rows` lines, each a `SpanRow`, and goes in byte by byte. All rows or none.
     * The same token with the same bytes is stored once, as far back as the last 1000 inserts. Once it resolves, nothing reads
     * `ndjson` any more.
     *
     * @throws SpanInsertError
     */
    insert(batch: SpanBatch, signal?: AbortSignal): Promise<void>;

    /** A page past the end is empty. */
    listSpans(query: ListSpansQuery, signal?: AbortSignal): Promise<SpanPage>;

    /** All columns of one span; undefined when there is none in the scope. Of two environments, the newest version. */
    retrieveSpan(scope: SpanScope, uniqueId: string, signal?: AbortSignal): Promise<StoredSpan | undefined>;

    summarizeSpans(query: SpanSelection, signal?: AbortSignal): Promise<SpanSummary>;

    /** Models whose spans have no cost though something of them was counted, those with most spans first. */
    listUnpriced(query: SpanSelection, signal?: AbortSignal): Promise<UnpricedModel[]>;

    /** `count` is the number of groups, `rows` one page of them. */
    groupSpans(query: GroupSpansQuery, signal?: AbortSignal): Promise<{ count: number; rows: SpanGroup[] }>;

    /** Which values fields have, and how often. */
    facetSpans(query: SpanFacetsQuery, signal?: AbortSignal): Promise<SpanFacets>;

    /** The traces that `listTraces` would list, by bucket of time, and by group. */
    traceSeries(query: TraceSeriesQuery, signal?: AbortSignal): Promise<SpanSeriesResult>;

    /** What evaluators say of the spans of a selection. */
    summarizeScores(query: SpanSelection, signal?: AbortSignal): Promise<ScoreFigures[]>;

    /** The same for each of some groups of them, in no order. */
    groupScores(query: GroupScoresQuery, signal?: AbortSignal): Promise<Array<{ text: string; figures: ScoreFigures }>>;

    /** `count` is exact, and `rows` are one page. A trace is listed when a span of it ended within the window. */
    listTraces(query: ListTracesQuery, signal?: AbortSignal): Promise<{ count: number; rows: StoredTrace[] }>;

    /** Where the spans of a trace lie, in each environment of the scope that may have some. */
    placeTraces(scope: SpanScope, traceId: string, signal?: AbortSignal): Promise<TracePlace[]>;

    /** How large the trace is that lies within the stretch, which `placeTraces` overstates where spans were sent again. */
    weighTrace(
      query: Pick<ListTraceSpansQuery, "scope" | "traceId" | "stretch">,
      signal?: AbortSignal,
    ): Promise<TraceWeight>;

    /** The trace of this id in each environment of the scope that has one. */
    retrieveTraces(scope: SpanScope, traceId: string, signal?: AbortSignal): Promise<StoredTrace[]>;

    /** One page of the spans of one trace, earliest start first. */
    listTraceSpans(query: ListTraceSpansQuery, signal?: AbortSignal): Promise<RawSpan[]>;

    /** All spans of the trace of this id, in no order, as they were at one moment; undefined where there are many. */
    readSmallTrace(query: SmallTraceQuery, signal?: AbortSignal): Promise<RawSpan[] | undefined>;

    /** Hands on the spans of one trace, at most `limit` of them, by their ends: there may be very many. */
    readTraceSpans(
      query: Omit<ListTraceSpansQuery, "offset">,
      take: (span: RawSpan) => void,
      signal?: AbortSignal,
    ): Promise<void>;

    /** `count` is exact, and `rows` are one page of the threads that have a span in the window. */
    listThreads(query: ListThreadsQuery, signal?: AbortSignal): Promise<{ count: number; rows: StoredThread[] }>;

    /** `count` is exact, and `keys` are one page of the customers that there are; with a window, of those with a span in it. */
    listCustomers(query: ListCustomersQuery, signal?: AbortSignal): Promise<{ count: number; keys: CustomerPageKey[] }>;

    /** What the spans of some customers say, in no order; those without any are left out. */
    describeCustomers(query: DescribeCustomersQuery, signal?: AbortSignal): Promise<StoredCustomer[]>;

    /**
     * Spans of a customer no longer name it in any read once this resolves; with a time, those that ended or were received until
     * then, and calls that were under way. Safe to repeat.
     */
    unnameCustomer(key: CustomerKey, erasedNs?: bigint, signal?: AbortSignal): Promise<void>;

    /** The keys of the traces that `listTraces` would list, at most `limit` of `count`. */
    matchTraces(
      query: Omit<ListTracesQuery, "sort" | keyof Page> & { limit: number },
      signal?: AbortSignal,
    ): Promise<{ count: number; keys: Array<{ trace_unique_id: string; environment: string }> }>;

    /** How many spans a trace has in each environment of the scope that has any, and how many of them ended in the window. */
    countTraceSpans(
      query: { scope: SpanScope; traceId: string; window: TimeWindow },
      signal?: AbortSignal,
    ): Promise<Array<{ environment: string; inWindow: number; total: number }>>;

    /** Takes the spans of these deletions out of every read. Safe to repeat. */
    deleteTraces(deletions: readonly TraceDeletion[], signal?: AbortSignal): Promise<void>;

    /** Frees, in the background, the disk space of deleted traces; what hides them goes when it is older than the cutoff. */
    purgeDeleted(cutoffNs: bigint, signal?: AbortSignal): Promise<void>;

    /** The spans of these keys, in their order; those that are gone are left out. */
    hydrateSpans(
      scope: SpanScope,
      keys: readonly SpanKey[],
      fields: readonly ReadColumn[],
      signal?: AbortSignal,
    ): Promise<StoredSpan[]>;

    /**
     * What some spans add to their conversations, by unique_id; those of none are left out. The spans name their conversation:
     * they have the columns `conversationColumns`.
     */
    findNewMessages(
      scope: SpanScope,
      spans: readonly StoredSpan[],
      signal?: AbortSignal,
    ): Promise<Map<string, NewMessages>>;

    /**
     * Takes what organizations keep no longer out of every read, and frees its disk space, both in the background. By receipt,
     * because the times of a span are its sender's: a clock that is years off must not delete it, nor keep it for ever. Copies of scores go by when they were made.
     */
    deleteExpired(cutoffs: Cutoffs, signal?: AbortSignal): Promise<Expired>;

    /** What deletions in the background have still to do. */
    deletionProgress(signal?: AbortSignal): Promise<DeletionProgress>;

    /**
     * Media of an organization by id, in no order; what no span of it, or of the trace, refers to (any more) is left out. Texts
     * have at most `maxChars` together (96 MiB where it is not said): beyond it the largest come with an empty text.
     */
    readMedia(
      of: MediaOwner,
      ids: readonly string[],
      options?: { signal?: AbortSignal; maxChars?: number },
    ): Promise<Media[]>;

    /** Deletes, in the background, media that no stored span refers to and that was last inserted before `cutoffMs`. */
    sweepMedia(cutoffMs: number, signal?: AbortSignal): Promise<void>;

    /** @throws ServiceError `unavailable` */
    ping(signal?: AbortSignal): Promise<void>;

    /** Waits for what is under way. */
    close(): Promise<void>;
  };

/**
 * A row that may share its key with an earlier one says `is_resend`: 1, as its first member, and `hasResends` tells of
 * such rows. Embedded, reads rely on it; a server may have other nodes' rows, which nobody marks, so there they do not.
 * `table`: what the rows are, spans unless it says otherwise.
 */
export type SpanBatch = {
  ndjson: Buffer;
  rows: number;
  token: string;
  hasResends?: boolean;
  table?: "scores" | "customers" | "media" | "span_counts" | "trace_extents" | "span_edits" | "span_sum_marks";
};

/** Spans that ended within [fromNs, toNs], both inclusive, in nanoseconds since 1970. */
export type TimeWindow = { fromNs: bigint; toNs: bigint };

/** A WHERE part over the columns of the table, with ClickHouse's placeholders `{name:Type}`. See filter/to-clickhouse.ts. */
export type SpanCondition = {
  sql: string;
  params: StatementParams;
  /** The columns that it reads, where that is known, and the keys of metadata, where it reads no others. */
  columns?: ReadonlySet<string>;
  metadataKeys?: ReadonlySet<string> | undefined;
  /** The conditions that it joins by AND, where they are known. See `SqlOperand`. */
  operands?: ReadonlyArray<{ sql: string; columns: ReadonlySet<string>; isDemand: boolean }>;
};

/** Lists go to `Array(…)` placeholders; everything else is bound as its text. */
export type StatementParams = Record<string, string | readonly string[]>;

export type SpanSelection = {
  scope: SpanScope;
  window: TimeWindow;
  filter?: SpanCondition | undefined;
} & SeesEdits;

export type Page = {
  /** From 1. */
  page: number;
  pageSize: number;
};

/** JSON columns are text ('' = absent), times `YYYY-MM-DD hh:mm:ss.nnnnnnnnn`, integers text where a double loses digits. */
export type StoredSpan = Pick<Required<StoredColumns>, "timestamp" | "unique_id" | "environment"> &
  Omit<StoredColumns, "version"> & { version: string };
type StoredColumns = { [C in SpanColumn]?: StoredValue<(typeof spanColumns)[C]> } & {
  [C in CountedColumn]?: StoredValue<(typeof countedColumns)[C]>;
};
type StoredValue<K extends ColumnKind> = K extends "text" | "uuid" | "time" | "json"
  ? string
  : K extends "integer"
    ? number | string | null
    : K extends "number"
      ? number | null
      : K extends "boolean"
        ? boolean | null
        : Record<string, string>;

/** Sums skip absent values, averages too; both are 0 where there is none. Cost in USD, times in seconds. */
export type SpanSummary = {
  number_of_requests: number;
  total_cost: number;
  total_tokens: number;
  total_prompt_tokens: number;
  total_completion_tokens: number;
  avg_latency: number;
  avg_tps: number;
  avg_ttft: number;
  error_count: number;
  /** Model calls whose cost is unknown. */
  unpriced_count: number;
  cache_hit_count: number;
  number_of_customers: number;
} & Percentiles;

export type UnpricedModel = { model: string; provider_id: string; spans: number; last_timestamp: string };

export const spanGroupings = [
  "model",
  "provider_id",
  "organization_key_id",
  "prompt_id",
  "deployment_id",
  "deployment_name",
  "custom_identifier",
  "customer_identifier",
  "trace",
  "thread",
  "session_identifier",
  "log_type",
  "span_name",
  "span_workflow_name",
  "environment",
  "status",
  "status_code",
] as const;

export const spanGroupSortFields = [
  "number_of_requests",
  "span_count",
  "total_cost",
  "total_tokens",
  "total_prompt_tokens",
  "total_completion_tokens",
  "error_count",
  "error_percentage",
  "average_cost",
  "average_tokens",
  "average_latency",
  "average_ttft",
  "average_tps",
  "cache_hit_percentage",
  "unpriced_count",
  "first_timestamp",
  "last_timestamp",
] as const;
export type SpanGroupSortField = (typeof spanGroupSortFields)[number];

export type GroupSpansQuery = SpanSelection &
  Page & {
    groupBy: readonly SeriesKey[];
    /** Groups that have this in a value. */
    search?: string | undefined;
    sort: { field: SpanGroupSortField; descending: boolean };
  };

export type SpanGroup = {
  /** The values grouped by; `trace` and `thread` have their id and `environment`. '' is the group without a value. */
  key: Record<string, string | number | null>;
  /** The same as one text, by which `groupScores` finds it. */
  text: string;
  first_timestamp: string;
  last_timestamp: string;
} & Record<Exclude<SpanGroupSortField, "first_timestamp" | "last_timestamp">, number> &
  Percentiles;

/** `keys` are the texts of groups. */
export type GroupScoresQuery = SpanSelection & { groupBy: readonly SeriesKey[]; keys: readonly string[] };

/** Over the scores of one evaluator that have a value. Averages count true as 1; null where no value is a number. */
export type ScoreFigures = {
  evaluator_id: string;
  evaluator_slug: string;
  evaluator_name: string;
  score_value_type: string;
  count: number;
  avg_score: number | null;
  /** Null but for booleans. */
  true_count: number | null;
  false_count: number | null;
};

/** What finds one version of one span. */
export type SpanKey = Pick<StoredSpan, "timestamp" | "unique_id" | "environment" | "version">;

/** Of the `count` messages of a span, those at these places, from 0, are new to its conversation. */
export type NewMessages = { places: readonly number[]; count: number };

/** What groups of spans, such as traces, are filtered by. */
export type GroupCondition = {
  /** On spans, and the same for all of a group: narrows what is read. */
  where?: SpanCondition | undefined;
  /** On spans: `match_<i>` says whether any span of the group fulfils the i-th. */
  matches: readonly SpanCondition[];
  /** On the columns of the key, `figure_<name>` and `match_<i>`. */
  having: SpanCondition;
  /** The names of figures that `having` reads. */
  figures: readonly string[];
};

/**
 * - `poison`: the store read the rows and refuses them for what is in them; the same bytes will never go in.
 * - `retryable`: everything else. It may have been stored nevertheless: try again with the same token.
 */
export class SpanInsertError extends Error {
  readonly kind: "poison" | "retryable";
  /** From 1; undefined where the store did not tell. */
  readonly failedRow: number | undefined;

  constructor(kind: "poison" | "retryable", options: { failedRow?: number | undefined; cause: unknown }) {
    super(kind === "poison" ? "the span store refuses the content of a batch" : "the span store did not take a batch", {
      cause: options.cause,
    });
    this.name = "SpanInsertError";
    this.kind = kind;
    this.failedRow = options.failedRow;
  }
}

export function isPoisonBatch(error: unknown): boolean {
  return error instanceof SpanInsertError && error.kind === "poison";
}
