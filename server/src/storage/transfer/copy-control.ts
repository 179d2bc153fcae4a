import { DatabaseSync, type SQLOutputValue } from "node:sqlite";
import { sql } from "kysely";
import { ServiceError } from "../../domain/errors.ts";
import type { ControlDatabase, ControlQueries } from "../control/open-control-database.ts";
import type { CopiedTable } from "./copy-spans.ts";

type Row = Record<string, SQLOutputValue>;

const sampleRows = 200;
/** Postgres binds at most 65,535 values in a statement. */
const valuesMax = 30_000;

/**
 * Copies every row of a SQLite file into an empty Postgres with tables of the same version, and compares the two: all
 * or nothing. @throws ServiceError `conflict` if the target has an instance already, or they differ in the end
 */
export async function copyControl(path: string, target: ControlDatabase): Promise<CopiedTable[]> {
  const source = new DatabaseSync(path, { readOnly: true });
  try {
    return await target.transaction(async (queries) => {
      await refuseTaken(queries);
      const tables: CopiedTable[] = [];
      for (const table of tablesOf(source)) tables.push(await copyTable(source, queries, table));
      await continueNumbers(queries);
      return tables;
    });
  } finally {
    source.close();
  }
}

/** @throws ServiceError `conflict` if there is an instance */
export async function refuseTaken(queries: ControlQueries): Promise<void> {
  if ((await queries.selectFrom("instance").select("id").executeTakeFirst()) === undefined) return;
  throw new ServiceError(
    "conflict",
    "The control store of SPANWAY_CONTROL_URL has organizations already: name an empty database.",
  );
}

/** Tables without those that record migrations. Tables that others refer to come first. */
function tablesOf(source: DatabaseSync): string[] {
  const names = source
    .prepare(
      "select name from sqlite_master where type = 'table' and name not like 'sqlite_%' and name not like 'kysely_%' and name <> 'schema_support'",
    )
    .all()
    .map((row) => String(row["name"]));
  const ordered = new Set<string>();
  const add = (table: string, path: readonly string[]): void => {
    if (ordered.has(table) || path.includes(table)) return;
    for (const key of source.prepare(`pragma foreign_key_list("${table}")`).all()) {
      add(String(key["table"]), [...path, table]);
    }
    ordered.add(table);
  };
  for (const name of names) add(name, []);
  return [...ordered];
}

async function copyTable(source: DatabaseSync, queries: ControlQueries, table: string): Promise<CopiedTable> {
  const info = source.prepare(`pragma table_info("${table}")`).all();
  const columns = info.map((column) => String(column["name"]));
  const keys = info.filter((column) => Number(column["pk"]) > 0).map((column) => String(column["name"]));
  const name = sql.table(table);
  const names = sql.join(columns.map((column) => sql.ref(column)));
  let rows = 0;
  let batch: Row[] = [];
  const send = async (): Promise<void> => {
    if (batch.length === 0) return;
    const values = batch.map((row) => sql`(${sql.join(columns.map((column) => row[column] ?? null))})`);
    await sql`insert into ${name} (${names}) overriding system value values ${sql.join(values)}`.execute(queries);
    rows += batch.length;
    batch = [];
  };
  const all = source.prepare(`select * from "${table}"`);
  all.setReadBigInts(true);
  for (const row of all.iterate()) {
    batch.push(row);
    if (batch.length * columns.length >= valuesMax) await send();
  }
  await send();
  const counted = await sql<{ n: string }>`select count(*) as n from ${name}`.execute(queries);
  if (Number(counted.rows[0]?.n) !== rows) throw differs(table, "the number of rows is not the same");
  const sampled = keys.length === 0 ? 0 : await compareRows(source, queries, { table, columns, keys });
  return { table, rows, sampled };
}

async function compareRows(
  source: DatabaseSync,
  queries: ControlQueries,
  { table, columns, keys }: { table: string; columns: readonly string[]; keys: readonly string[] },
): Promise<number> {
  const some = source.prepare(`select * from "${table}" order by random() limit ${sampleRows}`);
  some.setReadBigInts(true);
  const rows = some.all();
  for (const row of rows) {
    const where = sql.join(
      keys.map((key) => sql`${sql.ref(key)} = ${row[key]}`),
      sql` and `,
    );
    const found = await sql<Record<string, unknown>>`select * from ${sql.table(table)} where ${where}`.execute(queries);
    const other = found.rows[0] ?? {};
    const different = columns.find((column) => textOf(row[column]) !== textOf(other[column]));
    if (different !== undefined) throw differs(table, `a row has another ${different}`);
  }
  return rows.length;
}

/** Postgres returns large integers as text. */
const textOf = (value: unknown): string | undefined =>
  typeof value === "string" || typeof value === "number" || typeof value === "bigint" ? `${value}` : undefined;

/** Continues the numbers that the database assigns after the copied ones. */
async function continueNumbers(queries: ControlQueries): Promise<void> {
  const { rows } = await sql<{ table_name: string; column_name: string }>`
    select table_name, column_name from information_schema.columns
    where table_schema = current_schema() and is_identity = 'YES'`.execute(queries);
  for (const { table_name, column_name } of rows) {
    await sql`select setval(pg_get_serial_sequence(${`"${table_name}"`}, ${column_name}),
      coalesce((select max(${sql.ref(column_name)}) from ${sql.table(table_name)}), 0) + 1, false)`.execute(queries);
  }
}

function differs(table: string, how: string): ServiceError {
  return new ServiceError("conflict", `The table ${table} was not copied whole: ${how}.`);
}
