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
 * The port to stored spans: ClickHouse, in the process or behind a URL. `contract/` tests both.
 *
 * Every read sees each span once: of the rows with one key (organization, environment, timestamp, unique_id) the
 * highest version, and none if that version is a tombstone (`is_deleted` = 1).
 *
 * A read throws `ServiceError`: `query_too_large` if it exceeds its time or memory limit, `unavailable` if the store
 * cannot be reached or too many queries wait. An aborted read rejects with the reason of its signal.
 */
export type SpanStore = SpanExports &
  SpanEditing &
  ReceivedReads &
  SpanSeriesReads &
  UsageReads &
  SpanSums & {
    /** Migrates the tables. Any number of nodes may do so at the same time. */
    migrate(): Promise<void>;

    /**
     * Stores `ndjson`, unchanged: `rows` lines, each a `SpanRow`. All rows or none. The same token with the same bytes
     * is stored once, as far back as the last 1000 inserts. `ndjson` is not read after this resolves.
     *
     * @throws SpanInsertError
     */
    insert(batch: SpanBatch, signal?: AbortSignal): Promise<void>;

    /** A page past the end is empty. */
    listSpans(query: ListSpansQuery, signal?: AbortSignal): Promise<SpanPage>;

    /** All columns of one span, the newest version if two environments have it; undefined if there is none. */
    retrieveSpan(scope: SpanScope, uniqueId: string, signal?: AbortSignal): Promise<StoredSpan | undefined>;

    summarizeSpans(query: SpanSelection, signal?: AbortSignal): Promise<SpanSummary>;

    /** Models whose spans have usage but no cost, those with the most spans first. */
    listUnpriced(query: SpanSelection, signal?: AbortSignal): Promise<UnpricedModel[]>;

    /** `count` is the number of all groups; `rows` are one page of them. */
    groupSpans(query: GroupSpansQuery, signal?: AbortSignal): Promise<{ count: number; rows: SpanGroup[] }>;

    /** The values of fields and their frequencies. */
    facetSpans(query: SpanFacetsQuery, signal?: AbortSignal): Promise<SpanFacets>;

    /** The traces that `listTraces` would list, by time bucket and by group. */
    traceSeries(query: TraceSeriesQuery, signal?: AbortSignal): Promise<SpanSeriesResult>;

    /** Figures of the scores of the selected spans, by evaluator. */
    summarizeScores(query: SpanSelection, signal?: AbortSignal): Promise<ScoreFigures[]>;

    /** The same for some groups of the spans, in no order. */
    groupScores(query: GroupScoresQuery, signal?: AbortSignal): Promise<Array<{ text: string; figures: ScoreFigures }>>;

    /** `count` is exact; `rows` are one page. A trace is listed if one of its spans ended within the window. */
    listTraces(query: ListTracesQuery, signal?: AbortSignal): Promise<{ count: number; rows: StoredTrace[] }>;

    /** The time range of a trace in each environment of the scope that may have spans of it. */
    placeTraces(scope: SpanScope, traceId: string, signal?: AbortSignal): Promise<TracePlace[]>;

    /** The exact size of the trace within the range. `placeTraces` overstates it if spans were resent. */
    weighTrace(
      query: Pick<ListTraceSpansQuery, "scope" | "traceId" | "range">,
      signal?: AbortSignal,
    ): Promise<TraceWeight>;

    /** The trace with this id in each environment of the scope that has one. */
    retrieveTraces(scope: SpanScope, traceId: string, signal?: AbortSignal): Promise<StoredTrace[]>;

    /** One page of the spans of one trace, earliest start first. */
    listTraceSpans(query: ListTraceSpansQuery, signal?: AbortSignal): Promise<RawSpan[]>;

    /** All spans of the trace with this id, in no order, as of one moment; undefined if there are many. */
    readSmallTrace(query: SmallTraceQuery, signal?: AbortSignal): Promise<RawSpan[] | undefined>;

    /** Passes at most `limit` spans of one trace to `take`, in the order of their ends. */
    readTraceSpans(
      query: Omit<ListTraceSpansQuery, "offset">,
      take: (span: RawSpan) => void,
      signal?: AbortSignal,
    ): Promise<void>;

    /** `count` is exact; `rows` are one page of the threads with a span in the window. */
    listThreads(query: ListThreadsQuery, signal?: AbortSignal): Promise<{ count: number; rows: StoredThread[] }>;

    /** `count` is exact; `keys` are one page of all customers or, with a window, of those with a span in it. */
    listCustomers(query: ListCustomersQuery, signal?: AbortSignal): Promise<{ count: number; keys: CustomerPageKey[] }>;

    /** Figures of customers from their spans, in no order. Customers without spans are left out. */
    describeCustomers(query: DescribeCustomersQuery, signal?: AbortSignal): Promise<StoredCustomer[]>;

    /**
     * Removes the customer from its spans in every read. With `erasedNs`, only from spans received until then, and from
     * those that ended or whose call began until then and that were received shortly after. Safe to repeat.
     */
    unnameCustomer(key: CustomerKey, erasedNs?: bigint, signal?: AbortSignal): Promise<void>;

    /** The keys of the traces that `listTraces` would list, at most `limit` of `count`. */
    matchTraces(
      query: Omit<ListTracesQuery, "sort" | keyof Page> & { limit: number },
      signal?: AbortSignal,
    ): Promise<{ count: number; keys: Array<{ trace_unique_id: string; environment: string }> }>;

    /** How many spans a trace has in each environment that has any, and how many of them ended in the window. */
    countTraceSpans(
      query: { scope: SpanScope; traceId: string; window: TimeWindow },
      signal?: AbortSignal,
    ): Promise<Array<{ environment: string; inWindow: number; total: number }>>;

    /** Hides the spans of these deletions from every read. Safe to repeat. */
    deleteTraces(deletions: readonly TraceDeletion[], signal?: AbortSignal): Promise<void>;

    /** Frees the disk space of deleted traces in the background. Tombstones are removed once older than the cutoff. */
    purgeDeleted(cutoffNs: bigint, signal?: AbortSignal): Promise<void>;

    /** The spans with these keys, in the same order. Keys without a span any more are left out. */
    hydrateSpans(
      scope: SpanScope,
      keys: readonly SpanKey[],
      fields: readonly ReadColumn[],
      signal?: AbortSignal,
    ): Promise<StoredSpan[]>;

    /**
     * The messages that spans add to their conversations, by unique_id. Spans of no conversation are left out. The
     * spans must have the columns `conversationColumns`.
     */
    findNewMessages(
      scope: SpanScope,
      spans: readonly StoredSpan[],
      signal?: AbortSignal,
    ): Promise<Map<string, NewMessages>>;

    /**
     * Deletes what is past its organization's retention, in the background. Age counts from receipt, because senders
     * set the times of spans: a clock that is years off must not delete or keep them. Scores age from creation.
     */
    deleteExpired(cutoffs: Cutoffs, signal?: AbortSignal): Promise<Expired>;

    /** What background deletions still have to do. */
    deletionProgress(signal?: AbortSignal): Promise<DeletionProgress>;

    /**
     * Media of an organization by id, in no order, except what no span of it (or of the trace) refers to. All texts
     * together have at most `maxChars` characters (default 96 Mi): beyond it, the largest have an empty text.
     */
    readMedia(
      of: MediaOwner,
      ids: readonly string[],
      options?: { signal?: AbortSignal; maxChars?: number },
    ): Promise<Media[]>;

    /** Deletes media in the background that no stored span refers to and that was last inserted before `cutoffMs`. */
    sweepMedia(cutoffMs: number, signal?: AbortSignal): Promise<void>;

    /** @throws ServiceError `unavailable` */
    ping(signal?: AbortSignal): Promise<void>;

    /** Closes all connections. The embedded store waits for running work first. */
    close(): Promise<void>;
  };

/**
 * A row that may share its key with an earlier one begins with `is_resend`: 1; `hasResends` says that there are some.
 * Embedded reads rely on it; reads of a server do not: other nodes' rows are not marked. `table`: default spans.
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

/** A WHERE condition over the table's columns, with placeholders `{name:Type}`. See filter/to-clickhouse.ts. */
export type SpanCondition = {
  sql: string;
  params: StatementParams;
  /** The columns that it reads, if known, and the keys of metadata, if it reads no others. */
  columns?: ReadonlySet<string>;
  metadataKeys?: ReadonlySet<string> | undefined;
  /** The conditions that it joins with AND, if known. See `SqlOperand`. */
  operands?: ReadonlyArray<{ sql: string; columns: ReadonlySet<string>; isDemand: boolean }>;
};

/** Lists are for `Array(…)` placeholders; every other value is bound as its text. */
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

/**
 * JSON columns are text ('' = absent), times `YYYY-MM-DD hh:mm:ss.nnnnnnnnn`, integers text if a double loses digits.
 */
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

/** Sums and averages skip absent values and are 0 if there are none. Cost in USD, times in seconds. */
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
    /** Only groups with this text in a value, ignoring case. */
    search?: string | undefined;
    sort: { field: SpanGroupSortField; descending: boolean };
  };

export type SpanGroup = {
  /** The values grouped by; `trace` and `thread` also have their `environment`. '' is the group without a value. */
  key: Record<string, string | number | null>;
  /** The same as one text, the key for `groupScores`. */
  text: string;
  first_timestamp: string;
  last_timestamp: string;
} & Record<Exclude<SpanGroupSortField, "first_timestamp" | "last_timestamp">, number> &
  Percentiles;

/** `keys` are the texts of groups. */
export type GroupScoresQuery = SpanSelection & { groupBy: readonly SeriesKey[]; keys: readonly string[] };

/** Figures of the scores of one evaluator. `avg_score` counts true as 1, and is null if no value is a number. */
export type ScoreFigures = {
  evaluator_id: string;
  evaluator_slug: string;
  evaluator_name: string;
  score_value_type: string;
  count: number;
  avg_score: number | null;
  /** Null unless the scores are booleans. */
  true_count: number | null;
  false_count: number | null;
};

/** Identifies one version of one span. */
export type SpanKey = Pick<StoredSpan, "timestamp" | "unique_id" | "environment" | "version">;

/**
 * `places`: positions, from 0, of the messages of a span that are new to its conversation. `count`: the number of
 * messages of the span, 0 if none is new.
 */
export type NewMessages = { places: readonly number[]; count: number };

/** A filter of groups of spans, such as traces. */
export type GroupCondition = {
  /** A condition on spans that is the same for all spans of a group. Narrows what is read. */
  where?: SpanCondition | undefined;
  /** Conditions on spans: `match_<i>` is whether any span of the group meets the i-th. */
  matches: readonly SpanCondition[];
  /** A condition on the columns of the key, `figure_<name>` and `match_<i>`. */
  having: SpanCondition;
  /** The names of the figures that `having` reads. */
  figures: readonly string[];
};

/**
 * - `poison`: the store rejects the content of the rows. The same bytes will never be accepted.
 * - `retryable`: everything else. The batch may have been stored nevertheless: retry with the same token.
 */
export class SpanInsertError extends Error {
  readonly kind: "poison" | "retryable";
  /** From 1; undefined if the store did not report it. */
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
