import type { ExportFormat, WriteBytes } from "../span-export.ts";
import type { SpanBatch, StatementParams } from "../span-store.ts";
import type { WatchLimits } from "../../../lib/fair-share.ts";
import { storageLimits } from "../../limits.ts";
import type { ProbeCache, SideTableTracker, ResendTracker } from "./write-watches.ts";
import type { PassMemory } from "./pass-memory.ts";

/** The port that queries need from an engine. Implemented by `embedded-database.ts` and `http-database.ts`. */
export type SpanDatabase = {
  /** The cluster that the tables are spread over; null for a single server. */
  cluster: string | null;
  database: string;
  /** @throws what `asReadError` makes of the engine's errors, or the signal's reason */
  query(statement: Statement, signal?: AbortSignal): Promise<QueryResult>;
  /**
   * The same for many rows: each value is JSON text in a byte string, in the order of the statement, and a row is made
   * on demand. With named values, the names would take most of the space, and rows that all live at the same time are
   * expensive for the garbage collector.
   */
  queryRaw(statement: Statement, signal?: AbortSignal): Promise<RawRows>;
  /**
   * A read of upkeep. It has its own places, threads and time limit, so it takes none from the reads of people and is
   * not ended by their limits.
   *
   * @throws like `query`
   */
  upkeep(statement: Statement, signal?: AbortSignal): Promise<QueryResult>;
  /**
   * Passes the result of a statement to `take` as a file of the format, in constant memory: one column of lines for
   * `jsonl`, no header for `csv`. Few run at a time (`storageLimits.exportsInFlight`), each with its own bounds.
   * Resolves when `take` has taken everything.
   *
   * @throws like `query`, or what `take` throws; what was taken by then is not a complete file
   */
  stream(statement: Statement, format: ExportFormat, take: WriteBytes, signal: AbortSignal): Promise<void>;
  /** DDL and deletes: one statement, without a time limit. @throws like `query` */
  execute(statement: Statement): Promise<void>;
  /**
   * An INSERT … SELECT into a table that spans are not read from. Runs beside everything else, with few resources.
   * @throws the engine's own error
   */
  build(statement: Statement): Promise<void>;
  /** @throws SpanInsertError */
  insert(batch: SpanBatch, signal?: AbortSignal): Promise<void>;
  passes: PassMemory;
  ping(signal?: AbortSignal): Promise<void>;
  /** Lets running statements end first; on a server, for a bounded time. */
  close(): Promise<void>;
  /** Present if all rows come from this node, so `is_resend` marks every row that may share its key. */
  resends?: Omit<ResendTracker, "during">;
  /** Present in the same case: sees every insert and deletion. */
  probes?: Omit<ProbeCache, "during">;
  /** The same for rows of `span_counts`. */
  counts?: Omit<SideTableTracker, "during">;
  /** The same for rows of `span_edits`, `scores` and `trace_extents`. */
  edits?: Omit<SideTableTracker, "during">;
  scores?: Omit<SideTableTracker, "during">;
  extents?: Omit<SideTableTracker, "during">;
};

export type Statement = {
  /** The name of the kind of statement in metrics. */
  name: string;
  sql: string;
  params?: StatementParams;
  settings?: EngineSettings;
};

export type EngineSettings = Record<string, string | number>;

export type ResultRow = Record<string, unknown>;

/** Rows of a reply; they can be read once. */
export type RawRows = Iterable<string[]> & {
  readonly size: number;
  /** The last row, available before the others are read. Undefined if there are no rows. */
  readonly last: readonly string[] | undefined;
};

export type QueryResult = {
  rows: ResultRow[];
  /** The number of rows without LIMIT; exact with the setting `exact_rows_before_limit`. */
  rowsBeforeLimit: number | undefined;
};

export type QueryOutcome = "ok" | "query_too_large" | "unavailable" | "refused" | "aborted" | "failed";

export type SpanDatabaseOptions = {
  /** The bounds of one query; `limits.ts` has the defaults. */
  bounds?: Partial<QueryBounds>;
  /** Sums are read if a window may have this many spans; `limits.ts` has the default. */
  sumsFromSpans?: number;
  /** How long `close` waits for statements on a server; `limits.ts` has the default. */
  closeGraceMs?: number;
  /** Called after each query, for metrics. `refused`: too many queries were waiting. */
  onQuery?: (event: { name: string; seconds: number; outcome: QueryOutcome }) => void;
  /** Called with the limits that organizations share, by name. */
  watchLimits?: WatchLimits | undefined;
};

export type QueryBounds = {
  timeMs: number;
  memoryBytes: number;
  inFlight: number;
  queued: number;
};

/** Puts `SETTINGS` into the statement: an embedded connection would keep separate settings for the next statement. */
export function withSettings(sql: string, settings: EngineSettings): string {
  const list = Object.entries(settings).map(([name, value]) => `${name} = ${literal(name, value)}`);
  return list.length === 0 ? sql : `${sql} SETTINGS ${list.join(", ")}`;
}

// Only our own code writes settings. The check is a second line of defence.
function literal(name: string, value: string | number): string {
  if (typeof value === "number") return String(value);
  if (!/^[\w.:/-]*$/.test(value)) throw new Error(`the value of the setting ${name} has forbidden characters`);
  return `'${value}'`;
}

export function readSettings(bounds: Pick<QueryBounds, "timeMs" | "memoryBytes">): EngineSettings {
  return {
    max_execution_time: bounds.timeMs / 1000,
    max_memory_usage: bounds.memoryBytes,
    output_format_json_quote_64bit_integers: 1,
    // The partition follows from the key, so all versions of a span are in the same one.
    do_not_merge_across_partitions_select_final: 1,
  };
}

/** The engine's names and settings of the formats. */
export const streamFormats: Record<ExportFormat, { name: string; settings: EngineSettings }> = {
  jsonl: { name: "CustomSeparated", settings: { format_custom_escaping_rule: "Raw" } },
  csv: {
    name: "CSV",
    settings: {
      output_format_csv_crlf_end_of_line: 1,
      format_csv_null_representation: "",
      max_block_size: storageLimits.exportCsvBlockRows,
    },
  },
  parquet: {
    name: "Parquet",
    settings: {
      output_format_parquet_row_group_size_bytes: storageLimits.exportRowGroupBytes,
      // The filter is a tenth of the work and of the file, and only helps readers that look for single values.
      output_format_parquet_write_bloom_filter: 0,
      // Row groups have about two thousand rows: too few for dictionaries, which take up to a tenth of the work, and for
      // an index of pages, which stays in memory until the end of the file.
      output_format_parquet_max_dictionary_size: 0,
      output_format_parquet_write_page_index: 0,
      // Takes a third less time.
      output_format_parquet_parallel_encoding: 1,
      // Encoding keeps the other core busy. A second stream has buffers for each column too.
      max_streams_for_merge_tree_reading: 1,
    },
  },
};

/** Small blocks and few threads: rows may have megabytes, and calls and inserts go on meanwhile. */
export function streamSettings(format: ExportFormat): EngineSettings {
  return {
    ...readSettings({ timeMs: storageLimits.exportTimeMs, memoryBytes: storageLimits.exportMemoryBytes }),
    max_block_size: storageLimits.exportBlockRows,
    preferred_block_size_bytes: storageLimits.exportBlockBytes,
    max_threads: storageLimits.exportThreads,
    output_format_json_escape_forward_slashes: 0,
    ...streamFormats[format].settings,
  };
}

export const upkeepBounds: QueryBounds = {
  timeMs: storageLimits.upkeepTimeMs,
  memoryBytes: storageLimits.queryMemoryBytes,
  inFlight: storageLimits.upkeepInFlight,
  queued: storageLimits.upkeepQueued,
};

/** Gives a statement of upkeep few threads. */
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

/** Set explicitly, whatever the server's defaults are. One batch may have rows of any month. */
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
