import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import {
  CompiledQuery,
  SqliteAdapter,
  SqliteDialect,
  SqliteDriver,
  type DatabaseConnection,
  type QueryResult,
  type SqliteDatabase,
  type SqliteStatement,
} from "kysely";
import { storageLimits } from "../../limits.ts";
import { retryWhileBusy } from "./sqlite-busy.ts";

/**
 * Kysely over Node's built-in SQLite. Statements run on the calling thread, one at a time; a transaction takes the
 * write lock when it begins, so that two processes on one file wait for each other instead of failing half-way.
 */
export class NodeSqliteDialect extends SqliteDialect {
  readonly #open: () => Promise<SqliteDatabase>;

  /** @param open called once, before the first statement; `Kysely.destroy()` closes its result. */
  constructor(open: () => Promise<DatabaseSync>) {
    const openAdapted = async (): Promise<SqliteDatabase> => adaptDatabase(await open());
    super({ database: openAdapted });
    this.#open = openAdapted;
  }

  override createDriver(): SqliteDriver {
    return new ImmediateSqliteDriver({ database: this.#open });
  }

  override createAdapter(): SqliteAdapter {
    return new TransactionalSqliteAdapter();
  }
}

class ImmediateSqliteDriver extends SqliteDriver {
  override async acquireConnection(): Promise<DatabaseConnection> {
    return new WaitingConnection(await super.acquireConnection());
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("begin immediate"));
  }

  /**
   * SQLite ends the transaction itself in some cases, such as a full disk: then the caller gets the cause, not this
   * error.
   */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    try {
      await super.rollbackTransaction(connection);
    } catch (error) {
      if (!String(error).includes("no transaction is active")) throw error;
    }
  }
}

/** Statements wait for locks of other processes, while the event loop goes on. */
class WaitingConnection implements DatabaseConnection {
  readonly #connection: DatabaseConnection;

  constructor(connection: DatabaseConnection) {
    this.#connection = connection;
  }

  executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    return retryWhileBusy(() => this.#connection.executeQuery<Row>(query));
  }

  streamQuery<Row>(query: CompiledQuery, chunkSize: number): AsyncIterableIterator<QueryResult<Row>> {
    return this.#connection.streamQuery<Row>(query, chunkSize);
  }
}

/** SQLite's DDL is transactional; declaring it makes the migrator read and write its state under one write lock. */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): true {
    return true;
  }
}

/**
 * Compiles repeated statements once. Long ones are excluded: their text varies with the number of values, so they
 * rarely repeat.
 */
function adaptDatabase(database: DatabaseSync): SqliteDatabase {
  const prepared = new Map<string, SqliteStatement>();
  return {
    close: () => database.close(),
    prepare: (sql): SqliteStatement => {
      const known = prepared.get(sql);
      if (known !== undefined) return known;
      const statement = prepareStatement(database, sql);
      // SQLite may execute a pragma when it compiles it.
      if (sql.length > storageLimits.controlStatementChars || sql.startsWith("pragma")) return statement;
      if (prepared.size >= storageLimits.controlStatements) prepared.delete(prepared.keys().next().value ?? "");
      prepared.set(sql, statement);
      return statement;
    },
  };
}

function prepareStatement(database: DatabaseSync, sql: string): SqliteStatement {
  const statement = database.prepare(sql);
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => statement.all(...asInputValues(parameters)),
    run: (parameters) => statement.run(...asInputValues(parameters)),
    // Uses a separate statement, because rows are read in steps while the same text may be run again.
    iterate: (parameters) => database.prepare(sql).iterate(...asInputValues(parameters)),
  };
}

/** The schema's columns are text, integer and null; SQLite itself refuses a value of any other kind. */
function asInputValues(parameters: readonly unknown[]): SQLInputValue[] {
  return parameters as SQLInputValue[];
}
