import { setTimeout as sleep } from "node:timers/promises";
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult, TransactionSettings } from "kysely";
import { storageLimits } from "../../limits.ts";
import { isConnectionDropped } from "../control-outage.ts";

/**
 * When Postgres drops a connection, this driver repeats on another one what cannot have changed anything: a read outside
 * a transaction, and the begin of a transaction. It does not repeat a write, because Postgres may have committed it
 * before the connection was lost.
 */
export class RetryingDriver implements Driver {
  readonly #driver: Driver;

  constructor(driver: Driver) {
    this.#driver = driver;
  }

  init(): Promise<void> {
    return this.#driver.init();
  }

  async acquireConnection(): Promise<RetryingConnection> {
    return new RetryingConnection(this.#driver, await this.#driver.acquireConnection());
  }

  async beginTransaction(connection: RetryingConnection, settings: TransactionSettings): Promise<void> {
    await connection.retry((current) => this.#driver.beginTransaction(current, settings));
    connection.isInTransaction = true;
  }

  commitTransaction(connection: RetryingConnection): Promise<void> {
    connection.isInTransaction = false;
    return this.#driver.commitTransaction(connection.current);
  }

  rollbackTransaction(connection: RetryingConnection): Promise<void> {
    connection.isInTransaction = false;
    return this.#driver.rollbackTransaction(connection.current);
  }

  async releaseConnection(connection: RetryingConnection): Promise<void> {
    await connection.release();
  }

  destroy(): Promise<void> {
    return this.#driver.destroy();
  }
}

class RetryingConnection implements DatabaseConnection {
  isInTransaction = false;
  current: DatabaseConnection;
  #isReleased = false;
  readonly #driver: Driver;

  constructor(driver: Driver, current: DatabaseConnection) {
    this.#driver = driver;
    this.current = current;
  }

  executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    return this.isInTransaction || !isRead(query)
      ? this.current.executeQuery<Row>(query)
      : this.retry((current) => current.executeQuery<Row>(query));
  }

  streamQuery<Row>(query: CompiledQuery, chunkSize: number): AsyncIterableIterator<QueryResult<Row>> {
    return this.current.streamQuery<Row>(query, chunkSize);
  }

  async release(): Promise<void> {
    if (this.#isReleased) return;
    this.#isReleased = true;
    await this.#driver.releaseConnection(this.current);
  }

  async retry<T>(run: (current: DatabaseConnection) => Promise<T>): Promise<T> {
    for (let left = storageLimits.controlReadTries - 1; ; left -= 1) {
      try {
        return await run(this.current);
      } catch (error) {
        if (left === 0 || !isConnectionDropped(error)) throw error;
        await sleep(storageLimits.controlRetryMs);
        // First, because the others of the pool may all be dropped and wait for a place in it too.
        await this.release();
        this.current = await this.#driver.acquireConnection();
        this.#isReleased = false;
      }
    }
  }
}

/** Raw SQL may write, and so may a common table expression. */
function isRead({ query }: CompiledQuery): boolean {
  return query.kind === "SelectQueryNode" && !("with" in query && query.with !== undefined);
}
