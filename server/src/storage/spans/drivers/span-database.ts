import type { ExportFormat, TakeBytes } from "../span-export.ts";
import type { SpanBatch, StatementParams } from "../span-store.ts";
import { storageLimits } from "../../limits.ts";
import type { LookMemory } from "./look-memory.ts";
import type { PassMemory } from "./pass-memory.ts";
import type { ResendWatch } from "./resend-watch.ts";
import type { SideTableWatch } from "./side-table-watch.ts";

/** What the queries need of an engine; `embedded-database.ts` and `http-database.ts` are the two there are. */
export type SpanDatabase = {
  /** The cluster that the tables are spread over; null for one server. */
  cluster: string | null;
  database: string;
  /** @throws what `asReadError` makes of the engine's errors, or the signal's reason */
  query(statement: Statement, signal?: AbortSignal): Promise<QueryResult>;
  /**
   * The same with each value as JSON text in a byte string, in the order of the statement, a row made when it is asked for:
   * for many rows. Of a row of names and values the names would be most, and rows that live together cost the collector
   * dearly.
   */
  queryRaw(statement: Statement, signal?: AbortSignal): Promise<RawRows>;
  /**
   * A read of upkeep: with places, threads and time of its own, so that it takes none of those of people, and no limit of theirs ends it.
   *
   * @throws as `query` does
   */
  upkeep(statement: Statement, signal?: AbortSignal): Promise<QueryResult>;
  /**
   * Hands on what the engine writes of a statement as a file of the format, in constant memory: one column of lines for `jsonl`, no
   * header for `csv`. Few run at a time (`storageLimits.exportsInFlight`), each with bounds of its own. Resolves when `take` has had the whole.
   *
   * @throws as `query` does, or what `take` throws; what was handed on by then is no whole file
   */
  stream(statement: Statement, format: ExportFormat, take: TakeBytes, signal: AbortSignal): Promise<void>;
  /** DDL and deletes, one statement, without a bound on its time. @throws as `query` does */
  execute(statement: Statement): Promise<void>;
  /**
   * An INSERT … SELECT into a table that no row of spans is read from, beside all else and with little of the machine.
   * @throws the engine's own error
   */
  build(statement: Statement): Promise<void>;
  /** @throws SpanInsertError */
  insert(batch: SpanBatch, signal?: AbortSignal): Promise<void>;
  passes: PassMemory;
  ping(signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
  /** Present where every row comes from this node, so that `is_resend` tells all that may share a key. */
  resends?: Omit<ResendWatch, "during">;
  /** Present there too: every insert and deletion passes it. */
  looks?: Omit<LookMemory, "during">;
  /** The same for rows of `span_counts`. */
  counts?: Omit<SideTableWatch, "during">;
  /** And of `span_edits`, `scores` and `trace_extents`. */
  edits?: Omit<SideTableWatch, "during">;
  scores?: Omit<SideTableWatch, "during">;
  extents?: Omit<SideTableWatch, "during">;
};

export type Statement = {
  /** Names the kind of statement in metrics. */
  name: string;
  sql: string;
  params?: StatementParams;
  settings?: EngineSettings;
};

export type EngineSettings = Record<string, string | number>;

export type ResultRow = Record<string, unknown>;

/** Rows of a reply, which are read once. */
export type RawRows = Iterable<string[]> & {
  readonly size: number;
  /** The last row, available before the others are read. Undefined if there are no rows. */
  readonly last: readonly string[] | undefined;
};

export type QueryResult = {
  rows: ResultRow[];
  /** How many rows there would be without LIMIT; exact with the setting `exact_rows_before_limit`. */
  rowsBeforeLimit: number | undefined;
};

export type QueryOutcome = "ok" | "query_too_large" | "unavailable" | "refused" | "aborted" | "failed";

export type SpanDatabaseOptions = {
  /** What one query may take; `limits.ts` has the defaults. */
  bounds?: Partial<QueryBounds>;
  /** Sums are read where a window may have so many spans; `limits.ts` has the default. */
  sumsFromSpans?: number;
  /** Called after each query: for metrics. `refused` means that too many were waiting. */
  onQuery?: (event: { name: string; seconds: number; outcome: QueryOutcome }) => void;
};

export type QueryBounds = {
  timeMs: number;
  memoryBytes: number;
  inFlight: number;
  queued: number;
};

/** `SETTINGS` stand in the statement itself: sent beside it, an embedded connection would keep them for the next one. */
export function withSettings(sql: string, settings: EngineSettings): string {
  const list = Object.entries(settings).map(([name, value]) => `${name} = ${literal(name, value)}`);
  return list.length === 0 ? sql : `${sql} SETTINGS ${list.join(", ")}`;
}

// Settings are written by us alone; this holds the door shut all the same.
function literal(name: string, value: string | number): string {
  if (typeof value === "number") return String(value);
  if (!/^[\w.:/-]*$/.test(value))
    throw new Error(`the value of the setting ${name} has characters that it may not have`);
  return `'${value}'`;
}

export function readSettings(bounds: Pick<QueryBounds, "timeMs" | "memoryBytes">): EngineSettings {
  return {
    max_execution_time: bounds.timeMs / 1000,
    max_memory_usage: bounds.memoryBytes,
    output_format_json_quote_64bit_integers: 1,
    // Partitions follow from the key, so versions of one span are never in two of them.
    do_not_merge_across_partitions_select_final: 1,
  };
}

/** The engine's names of the formats, and how it writes them. */
export const streamFormats: Record<ExportFormat, { name: string; settings: EngineSettings }> = {
  jsonl: { name: "CustomSeparated", settings: { format_custom_escaping_rule: "Raw" } },
  csv: { name: "CSV", settings: { output_format_csv_crlf_end_of_line: 1, format_csv_null_representation: "" } },
  parquet: {
    name: "Parquet",
    settings: {
      output_format_parquet_row_group_size_bytes: storageLimits.exportRowGroupBytes,
      // A tenth of the work and of the file, for readers that look for single values.
      output_format_parquet_write_bloom_filter: 0,
      // Threads of its own for encoding would come on top of those of the statement, and take a tenth more of the processor.
      output_format_parquet_parallel_encoding: 0,
    },
  },
};

/** Small blocks, few threads: rows may hold megabytes, and calls and inserts go on meanwhile. */
export function streamSettings(format: ExportFormat): EngineSettings {
  return {
    ...readSettings({ timeMs: storageLimits.exportTimeMs, memoryBytes: storageLimits.exportMemoryBytes }),
    ...streamFormats[format].settings,
    max_block_size: storageLimits.exportBlockRows,
    preferred_block_size_bytes: storageLimits.exportBlockBytes,
    max_threads: storageLimits.exportThreads,
    output_format_json_escape_forward_slashes: 0,
  };
}

export const upkeepBounds: QueryBounds = {
  timeMs: storageLimits.upkeepTimeMs,
  memoryBytes: storageLimits.queryMemoryBytes,
  inFlight: storageLimits.upkeepInFlight,
  queued: storageLimits.upkeepQueued,
};

/** As the bounds say, with few threads. */
export function upkeepStatement(statement: Statement): Statement {
  return { ...statement, settings: { max_threads: storageLimits.upkeepThreads, ...statement.settings } };
}

export const buildSettings: EngineSettings = {
  max_threads: 1,
  max_insert_threads: 1,
  max_memory_usage: storageLimits.queryMemoryBytes,
  do_not_merge_across_partitions_select_final: 1,
  max_partitions_per_insert_block: 0,
  insert_deduplicate: 0,
};

/** Whatever the server's defaults are. One batch may hold any month. */
export function insertSettings(token: string): EngineSettings {
  return {
    async_insert: 0,
    insert_deduplicate: 1,
    insert_deduplication_token: token,
    max_partitions_per_insert_block: 0,
    input_format_skip_unknown_fields: 1,
    input_format_json_read_objects_as_strings: 1,
    input_format_json_read_arrays_as_strings: 1,
    input_format_json_read_numbers_as_strings: 1,
    input_format_json_read_bools_as_strings: 1,
    input_format_null_as_default: 1,
    date_time_input_format: "basic",
  };
}
