import { outgoingLimits } from "../limits.ts";
import type { Connection } from "./connection.ts";

/** Idle connections. The most recently used one is taken first, so that surplus ones expire. */
export class IdleConnections {
  readonly #connections: { connection: Connection; untilMs: number }[] = [];
  #sweep: NodeJS.Timeout | undefined;

  add(connection: Connection, idleMs: number): void {
    this.#connections.push({ connection, untilMs: performance.now() + idleMs });
    this.#sweep ??= setTimeout(() => this.#closeExpired(), outgoingLimits.upstreamIdleSweepMs).unref();
  }

  /** Expiry is also checked here: a blocked event loop has not run the sweep. */
  take(): Connection | undefined {
    for (;;) {
      const last = this.#connections.pop();
      if (last === undefined || last.untilMs > performance.now()) return last?.connection;
      last.connection.destroy();
    }
  }

  remove(connection: Connection): void {
    const index = this.#connections.findIndex((each) => each.connection === connection);
    if (index !== -1) this.#connections.splice(index, 1);
  }

  closeAll(): void {
    for (const { connection } of this.#connections.splice(0)) connection.destroy();
    clearTimeout(this.#sweep);
    this.#sweep = undefined;
  }

  #closeExpired(): void {
    const now = performance.now();
    for (const { connection, untilMs } of Array.from(this.#connections)) if (untilMs <= now) connection.destroy();
    this.#sweep =
      this.#connections.length === 0
        ? undefined
        : setTimeout(() => this.#closeExpired(), outgoingLimits.upstreamIdleSweepMs).unref();
  }
}
