import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import {
  CompiledQuery,
  SqliteAdapter,
  SqliteDialect,
  SqliteDriver,
  type DatabaseConnection,
  type SqliteDatabase,
  type SqliteStatement,
} from "kysely";

/**
 * Kysely over the SQLite that is part of Node. Statements run on the calling thread, one at a time; a transaction takes the
 * write lock when it begins, so that two processes on one file wait for each other instead of failing half-way.
 */
export class NodeSqliteDialect extends SqliteDialect {
  readonly #open: () => Promise<SqliteDatabase>;

  /** @param open called once, before the first statement; what it gives is closed by `Kysely.destroy()`. */
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
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("begin immediate"));
  }
}

/** SQLite's DDL is transactional; saying so makes the migrator read and write its state under one write lock. */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): true {
    return true;
  }
}

function adaptDatabase(database: DatabaseSync): SqliteDatabase {
  return {
    close: () => database.close(),
    prepare: (sql): SqliteStatement => {
      const statement = database.prepare(sql);
      return {
        reader: statement.columns().length > 0,
        all: (parameters) => statement.all(...asInputValues(parameters)),
        run: (parameters) => statement.run(...asInputValues(parameters)),
        iterate: (parameters) => statement.iterate(...asInputValues(parameters)),
      };
    },
  };
}

/** The schema's columns are text, integer and null; SQLite itself refuses a value of any other kind. */
function asInputValues(parameters: readonly unknown[]): SQLInputValue[] {
  return parameters as SQLInputValue[];
}
