import { Kysely, sql, type Dialect } from "kysely";
import { DEFAULT_MIGRATION_TABLE, Migrator, type Migration } from "kysely/migration";
import type { Secret } from "../../lib/secret.ts";
import { isStartupRefused } from "./control-outage.ts";
import { openPostgres, type ConnectionCounts } from "./drivers/open-postgres.ts";
import { openSqlite } from "./drivers/open-sqlite.ts";
import { NewerTables } from "../newer-tables.ts";
import { controlMigrations } from "./migrations/list.ts";
import { controlRunsFrom } from "./migrations/runs-from.ts";
import type { ControlSchema } from "./schema.ts";

/** Where organizations, users and keys are stored. `path` is a file, `url` begins with postgres://. */
export type ControlLocation = { kind: "sqlite"; path: string } | { kind: "postgres"; url: Secret };

/** The connection that stores use: the database, or one transaction of it. */
export type ControlQueries = Kysely<ControlSchema>;

/** The message says what an operator can do, and never contains the URL, which includes a password. */
export class ControlUnreachable extends Error {}

export type ControlDatabase = {
  queries: ControlQueries;
  /**
   * Migrates the tables to the newest version. Safe to call from several processes at once: one migrates, the others
   * wait. Throws if a migration fails, or the tables are newer than this program supports.
   */
  migrate: () => Promise<void>;
  /** Runs `work` atomically. Only statements on the given queries belong to the transaction. */
  transaction: <T>(work: (queries: ControlQueries) => Promise<T>) => Promise<T>;
  /**
   * A transaction that does not wait for the disk: a killed process loses nothing, a power cut may lose the last few.
   * Use it for work that is then repeated.
   */
  unflushed: <T>(work: (queries: ControlQueries) => Promise<T>) => Promise<T>;
  /** Resolves when the database responds, for readiness. */
  ping: () => Promise<void>;
  /** Reads the clock of the Postgres server, in milliseconds since the epoch. Undefined for SQLite. */
  readTime: (() => Promise<number>) | undefined;
  close: () => Promise<void>;
  /** SQLite has one connection, which counts as idle. */
  connections: () => ConnectionCounts;
};

/** Opens without touching the tables; call `migrate` next. */
export function openControlDatabase(
  location: ControlLocation,
  onIdleError: (error: Error) => void = () => {},
): ControlDatabase {
  const { dialect, connections } = openDialect(location, onIdleError);
  const queries = new Kysely<ControlSchema>({ dialect });
  return {
    queries,
    connections,
    migrate: () => migrate(queries, location.kind),
    transaction: (work) => queries.transaction().execute(work),
    unflushed: location.kind === "sqlite" ? unflushedSqlite(queries) : unflushedPostgres(queries),
    ping: async () => {
      await sql`select 1`.execute(queries);
    },
    readTime: location.kind === "sqlite" ? undefined : () => postgresTime(queries),
    close: () => queries.destroy(),
  };
}

async function postgresTime(queries: ControlQueries): Promise<number> {
  const { rows } = await sql<{
    ms: string;
  }>`select cast(extract(epoch from clock_timestamp()) * 1000 as text) as ms`.execute(queries);
  return Number(rows[0]?.ms);
}

function openDialect(
  location: ControlLocation,
  onIdleError: (error: Error) => void,
): { dialect: Dialect; connections: ControlDatabase["connections"] } {
  if (location.kind === "postgres") return openPostgres(location.url, onIdleError);
  return { dialect: openSqlite(location.path), connections: () => ({ used: 0, idle: 1, waiting: 0 }) };
}

/** Holds the only connection meanwhile, so that no other transaction runs in this mode. */
function unflushedSqlite(queries: ControlQueries): ControlDatabase["unflushed"] {
  return (work) =>
    queries.connection().execute(async (connection) => {
      await sql`pragma synchronous = normal`.execute(connection);
      try {
        return await connection.transaction().execute(work);
      } finally {
        await sql`pragma synchronous = full`.execute(connection);
      }
    });
}

function unflushedPostgres(queries: ControlQueries): ControlDatabase["unflushed"] {
  return (work) =>
    queries.transaction().execute(async (transaction) => {
      await sql`set local synchronous_commit to off`.execute(transaction);
      return await work(transaction);
    });
}

/**
 * The migrator holds an advisory lock on Postgres, and the file's write lock on SQLite, while it reads and writes, and
 * all pending migrations commit together. Tables of a newer version stay unchanged if they declare that this one can
 * use them.
 */
async function migrate(queries: ControlQueries, dialect: ControlLocation["kind"]): Promise<void> {
  const migrations = controlMigrations(dialect);
  try {
    if (await isNewer(queries, Object.keys(migrations))) return;
    const error = await (dialect === "postgres" ? runLocked(queries, migrations) : run(queries, migrations));
    // Another node may have migrated meanwhile.
    if (error !== undefined && (await isNewer(queries, Object.keys(migrations)))) return;
    if (error !== undefined) throw asError(error);
    await raiseRunsFrom(queries);
  } catch (error) {
    if (error instanceof NewerTables) throw error;
    const reason = unreachable(error);
    if (isStartupRefused(error)) throw new ControlUnreachable(startupRemedy, { cause: error });
    if (reason === undefined) throw new Error("The control database could not be migrated", { cause: error });
    const message = `The control database does not answer: ${reason}. Is SPANWAY_CONTROL_URL right, and the server running?`;
    throw new ControlUnreachable(message, { cause: error });
  }
}

async function run(db: ControlQueries, migrations: Record<string, Migration>): Promise<unknown> {
  const migrator = new Migrator({ db, provider: { getMigrations: () => Promise.resolve(migrations) } });
  return (await migrator.migrateToLatest()).error;
}

/** On a server: in one transaction, under a lock that ends with it. @returns the error, if it failed */
async function runLocked(queries: ControlQueries, migrations: Record<string, Migration>): Promise<unknown> {
  let failure: unknown;
  const work = queries.transaction().execute(async (transaction) => {
    await lockMigrations(transaction);
    failure = await run(transaction, migrations);
    if (failure !== undefined) throw failure;
  });
  await work.catch((error: unknown) => (failure ??= error));
  return failure;
}

/**
 * Waits until no other node migrates, and blocks others until the transaction ends. PgBouncer gives each transaction
 * another server connection, so a session lock would stay with a connection that others get next. The number is
 * Kysely's, which nodes of earlier versions lock.
 */
async function lockMigrations(transaction: ControlQueries): Promise<void> {
  await sql`select pg_advisory_xact_lock(3853314791062309107)`.execute(transaction);
}

/** Whether a newer version has migrated the tables, and this one can use them. @throws NewerTables if it cannot */
async function isNewer(queries: ControlQueries, known: readonly string[]): Promise<boolean> {
  const tables = await queries.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some(({ name }) => name === DEFAULT_MIGRATION_TABLE)) return false;
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(DEFAULT_MIGRATION_TABLE)}`.execute(queries);
  const applied = rows.map(({ name }) => name).sort();
  const newest = applied.findLast((name) => !known.includes(name));
  if (newest === undefined) return false;
  const runsFrom = tables.some(({ name }) => name === "schema_support")
    ? (await queries.selectFrom("schema_support").select("runs_from").executeTakeFirst())?.runs_from
    : undefined;
  const isUsable =
    runsFrom !== undefined && runsFrom <= (known.at(-1) ?? "") && known.every((name) => applied.includes(name));
  if (isUsable) return true;
  throw new NewerTables("The control database", newest);
}

async function raiseRunsFrom(queries: ControlQueries): Promise<void> {
  await queries
    .insertInto("schema_support")
    .values({ id: 1, runs_from: controlRunsFrom })
    .onConflict((conflict) =>
      conflict
        .column("id")
        .doUpdateSet({ runs_from: controlRunsFrom })
        .where("schema_support.runs_from", "<", controlRunsFrom),
    )
    .execute();
}

const asError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));

/**
 * Codes of sockets and name resolution, and those of Postgres for failed authorization (28…) and missing databases
 * (3D000).
 */
function unreachable(error: unknown): string | undefined {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code !== "string" || !/^(ECONN|ENOTFOUND|EAI_|ETIMEDOUT|EHOST|ENETUNREACH|28|3D000|57P03)/.test(code))
    return undefined;
  return typeof message === "string" && message !== "" ? `${code}, ${message}` : code;
}

const startupRemedy =
  "SPANWAY_CONTROL_URL leads to a PgBouncer that refuses the timeouts of a connection: set " +
  "ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout in its configuration.";
