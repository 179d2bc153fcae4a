import { PostgresDialect } from "kysely";
import { Pool } from "pg";
import type { Secret } from "../../../lib/secret.ts";
import { limits } from "../../../limits.ts";

/**
 * A bounded pool of connections, made as they are needed.
 * @param onIdleError told when the server drops an idle connection; the pool replaces it by itself.
 */
export function openPostgres(url: Secret, onIdleError: (error: Error) => void): PostgresDialect {
  const pool = new Pool({
    connectionString: url.reveal(),
    application_name: "spanway",
    max: limits.controlConnections,
    connectionTimeoutMillis: limits.controlConnectMs,
    statement_timeout: limits.controlQueryMs,
    idle_in_transaction_session_timeout: limits.controlQueryMs,
    keepAlive: true,
  });
  // Without a listener the event would end the process.
  pool.on("error", onIdleError);
  return new PostgresDialect({ pool });
}
