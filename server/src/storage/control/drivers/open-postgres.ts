import { PostgresAdapter, PostgresDialect, type Driver } from "kysely";
import { Pool } from "pg";
import type { Secret } from "../../../lib/secret.ts";
import { storageLimits } from "../../limits.ts";
import { RetryingDriver } from "./retrying-driver.ts";

/** Connections of a pool; `waiting` is the number of requests for one that wait. */
export type ConnectionCounts = { used: number; idle: number; waiting: number };

/**
 * A bounded pool of connections, opened as needed.
 * @param onConnectionError called when the server drops a connection; the pool replaces it.
 */
export function openPostgres(
  url: Secret,
  onConnectionError: (error: Error) => void,
): {
  dialect: PostgresDialect;
  connections: () => ConnectionCounts;
} {
  const pool = new Pool({
    connectionString: url.reveal(),
    application_name: "spanway",
    max: storageLimits.controlConnections,
    connectionTimeoutMillis: storageLimits.controlConnectMs,
    statement_timeout: storageLimits.controlQueryMs,
    query_timeout: storageLimits.controlSilenceMs,
    idle_in_transaction_session_timeout: storageLimits.controlQueryMs,
    keepAlive: true,
  });
  // An `error` event without a listener ends the process. The pool listens only to idle connections; a connection in
  // use has only this listener. Its statement fails as well.
  pool.on("error", onConnectionError);
  pool.on("connect", (client) => client.on("error", onConnectionError));
  return {
    dialect: new ControlDialect({ pool }),
    connections: () => ({
      used: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
    }),
  };
}

class ControlDialect extends PostgresDialect {
  override createDriver(): Driver {
    return new RetryingDriver(super.createDriver());
  }

  override createAdapter(): PostgresAdapter {
    return new UnlockedMigrations();
  }
}

/** Kysely locks by session; `open-control-database.ts` locks by transaction. */
class UnlockedMigrations extends PostgresAdapter {
  override async acquireMigrationLock(): Promise<void> {}
  override async releaseMigrationLock(): Promise<void> {}
}
