import { Kysely, sql, type Dialect } from "kysely";
import { Migrator } from "kysely/migration";
import type { Secret } from "../../lib/secret.ts";
import { openPostgres } from "./drivers/open-postgres.ts";
import { openSqlite } from "./drivers/open-sqlite.ts";
import { controlMigrations } from "./migrations/list.ts";
import type { ControlSchema } from "./schema.ts";

/** Where organisations, users and keys are kept. `path` is a file, `url` begins with postgres://. */
export type ControlLocation = { kind: "sqlite"; path: string } | { kind: "postgres"; url: Secret };

/** What the stores run on: the database, or one transaction of it. */
export type ControlQueries = Kysely<ControlSchema>;

/** Its message says what an operator can do, and nothing of the URL, which holds a password. */
export class ControlUnreachable extends Error {}

export type ControlDatabase = {
  queries: ControlQueries;
  /**
   * Brings the tables to the newest shape. Safe to call from several processes at once: one migrates, the others wait.
   * Throws when a migration fails, or when the tables are newer than this program.
   */
  migrate: () => Promise<void>;
  /** Runs `work` whole or not at all. Only statements on the given queries belong to it. */
  transaction: <T>(work: (queries: ControlQueries) => Promise<T>) => Promise<T>;
  /**
   * A transaction that does not wait for the disk: a kill of the process loses nothing of it, a power cut may lose the last
   * few. For what is done again then.
   */
  unflushed: <T>(work: (queries: ControlQueries) => Promise<T>) => Promise<T>;
  /** Resolves when the database answers, for readiness. */
  ping: () => Promise<void>;
  close: () => Promise<void>;
};

/** Opens without touching the tables; call `migrate` next. */
export function openControlDatabase(
  location: ControlLocation,
  onIdleError: (error: Error) => void = () => {},
): ControlDatabase {
  const queries = new Kysely<ControlSchema>({ dialect: openDialect(location, onIdleError) });
  return {
    queries,
    migrate: () => migrate(queries, location.kind),
    transaction: (work) => queries.transaction().execute(work),
    unflushed: location.kind === "sqlite" ? unflushedSqlite(queries) : unflushedPostgres(queries),
    ping: async () => {
      await sql`select 1`.execute(queries);
    },
    close: () => queries.destroy(),
  };
}

function openDialect(location: ControlLocation, onIdleError: (error: Error) => void): Dialect {
  return location.kind === "sqlite" ? openSqlite(location.path) : openPostgres(location.url, onIdleError);
}

/** The one connection is held meanwhile, so that nobody else's transaction is among them. */
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
 * The migrator holds an advisory lock on Postgres and the file's write lock on SQLite while it looks and writes, and all
 * pending migrations commit together.
 */
async function migrate(queries: ControlQueries, dialect: ControlLocation["kind"]): Promise<void> {
  const migrator = new Migrator({
    db: queries,
    provider: { getMigrations: () => Promise.resolve(controlMigrations(dialect)) },
  });
  const { error } = await migrator.migrateToLatest();
  const reason = unreachable(error);
  if (reason !== undefined) {
    const message = `The control database does not answer: ${reason}. Is SPANWAY_CONTROL_URL right, and the server running?`;
    throw new ControlUnreachable(message, { cause: error });
  }
  if (error !== undefined) throw new Error("The control database could not be migrated", { cause: error });
}

/** Codes of sockets and names, and Postgres' own for who may not come in (28…) and databases that are not there (3D000). */
function unreachable(error: unknown): string | undefined {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code !== "string" || !/^(ECONN|ENOTFOUND|EAI_|ETIMEDOUT|EHOST|ENETUNREACH|28|3D000|57P03)/.test(code))
    return undefined;
  return typeof message === "string" && message !== "" ? `${code}, ${message}` : code;
}
