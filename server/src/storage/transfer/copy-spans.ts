import { hash } from "node:crypto";
import { ServiceError } from "../../domain/errors.ts";
import type { SpanDatabase } from "../spans/drivers/span-database.ts";
import { storageLimits } from "../limits.ts";
import type { SpanBatch } from "../spans/span-store.ts";

/** Tables whose rows are copied, with the column that selects samples. Stored sums are computed again. */
const copied = [
  { table: "media", key: "id" },
  { table: "spans", key: "unique_id" },
  { table: "span_counts", key: "unique_id" },
  { table: "trace_extents", key: "trace_unique_id" },
  { table: "span_edits", key: "unique_id" },
  { table: "scores", key: "unique_id" },
  { table: "customers", key: "customer_identifier" },
] as const;

const sampleRows = 200;

export type CopiedTable = { table: string; rows: number; sampled: number };

/**
 * Copies all rows of one store, whose tables are up to date, into another, and compares the two. It may be interrupted
 * and repeated: a row that exists already is the same row. @throws ServiceError `conflict` if they differ in the end
 */
export async function copySpans(from: SpanDatabase, to: SpanDatabase): Promise<CopiedTable[]> {
  const tables: CopiedTable[] = [];
  for (const { table, key } of copied) {
    await copyTable(from, to, table);
    tables.push(await compareTable(from, to, { table, key }));
  }
  return tables;
}

async function copyTable(from: SpanDatabase, to: SpanDatabase, table: (typeof copied)[number]["table"]): Promise<void> {
  const name: Pick<SpanBatch, "table"> = table === "spans" ? {} : { table };
  let buffered: Buffer[] = [];
  let bufferedBytes = 0;
  const send = async (ndjson: Buffer): Promise<void> => {
    if (ndjson.length === 0) return;
    const token = `copy:${table}:${hash("sha256", ndjson, "hex")}`;
    await to.insert({
      ndjson,
      rows: ndjson.toString("latin1").split("\n").length - 1,
      token,
      hasResends: true,
      ...name,
    });
  };
  const take = async (bytes: Uint8Array): Promise<void> => {
    buffered.push(Buffer.from(bytes));
    bufferedBytes += bytes.length;
    if (bufferedBytes < storageLimits.copyBatchBytes) return;
    const all = Buffer.concat(buffered);
    const end = all.lastIndexOf("\n") + 1;
    buffered = [all.subarray(end)];
    bufferedBytes = all.length - end;
    await send(all.subarray(0, end));
  };
  const statement = { name: "copy", sql: `SELECT ${rowText} FROM ${table}`, settings: { max_execution_time: 0 } };
  await from.stream(statement, "jsonl", take, new AbortController().signal);
  await send(Buffer.concat(buffered));
}

/** A row in the form that an insert takes. */
const rowText = "formatRowNoNewline('JSONEachRow', *)";

async function compareTable(
  from: SpanDatabase,
  to: SpanDatabase,
  { table, key }: { table: string; key: string },
): Promise<CopiedTable> {
  const settings = { max_execution_time: 0 };
  const count = async (database: SpanDatabase): Promise<number> => {
    const { rows } = await database.query({ name: "copy", sql: `SELECT count() AS n FROM ${table} FINAL`, settings });
    return Number(rows[0]?.["n"]);
  };
  const [rows, arrived] = [await count(from), await count(to)];
  if (rows !== arrived) throw differs(table, `${rows} rows were to be copied, and ${arrived} are there`);
  const every = Math.max(1, Math.ceil(rows / sampleRows));
  const sample = async (database: SpanDatabase): Promise<string[]> => {
    const sql = `SELECT ${rowText} AS line FROM ${table} FINAL WHERE cityHash64(toString(${key})) % ${every} = 0 LIMIT ${10 * sampleRows}`;
    const found = await database.query({ name: "copy", sql, settings: { ...settings, ...textSettings } });
    return found.rows.map((row) => String(row["line"])).sort();
  };
  const [source, target] = [await sample(from), await sample(to)];
  const different = source.findIndex((line, at) => line !== target[at]);
  if (different !== -1 || source.length !== target.length)
    throw differs(table, "rows that were compared are not the same");
  return { table, rows, sampled: source.length };
}

const textSettings = { output_format_json_escape_forward_slashes: 0 };

function differs(table: string, how: string): ServiceError {
  return new ServiceError(
    "conflict",
    `The table ${table} was not copied whole: ${how}. Nothing else may write the target meanwhile.`,
  );
}
