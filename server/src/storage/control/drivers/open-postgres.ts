import { PostgresDialect } from "kysely";
import { Pool } from "pg";
import type { Secret } from "../../../lib/secret.ts";
import { limits } from "../../../limits.ts";

/**
 * A bounded pool of connections, made as they are needed.
 * @param onConnectionError called when the server drops a connection; the pool replaces it.
 */
export function openPostgres(url: Secret, onConnectionError: (error: Error) => void): PostgresDialect {
  const pool = new Pool({
    connectionString: url.reveal(),
    application_name: "spanway",
    max: limits.controlConnections,
    connectionTimeoutMillis: limits.controlConnectMs,
    statement_timeout: limits.controlQueryMs,
    idle_in_transaction_session_timeout: limits.controlQueryMs,
    keepAlive: true,
  });
  // An `error` event without a listener ends the process. The pool listens to idle connections alone; one that is in use
  // has only this listener. Its statement fails as well.
  pool.on("error", onConnectionError);
  pool.on("connect", (client) => client.on("error", onConnectionError));
  return new PostgresDialect({ pool });
}
