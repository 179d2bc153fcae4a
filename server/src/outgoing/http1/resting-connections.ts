import { outgoingLimits } from "../limits.ts";
import type { Connection } from "./connection.ts";

/** Idle connections. The most recently used one is taken first, so that surplus ones expire. */
export class RestingConnections {
  readonly #connections: { connection: Connection; untilMs: number }[] = [];
  #sweep: NodeJS.Timeout | undefined;

  add(connection: Connection, restMs: number): void {
    this.#connections.push({ connection, untilMs: performance.now() + restMs });
    this.#sweep ??= setTimeout(() => this.#cutExpired(), outgoingLimits.upstreamRestSweepMs).unref();
  }

  /** Expiry is also checked here: a blocked event loop has not run the sweep. */
  take(): Connection | undefined {
    for (;;) {
      const last = this.#connections.pop();
      if (last === undefined || last.untilMs > performance.now()) return last?.connection;
      last.connection.cut();
    }
  }

  remove(connection: Connection): void {
    const index = this.#connections.findIndex((each) => each.connection === connection);
    if (index !== -1) this.#connections.splice(index, 1);
  }

  cutAll(): void {
    for (const { connection } of this.#connections.splice(0)) connection.cut();
    clearTimeout(this.#sweep);
    this.#sweep = undefined;
  }

  #cutExpired(): void {
    const now = performance.now();
    for (const { connection, untilMs } of Array.from(this.#connections)) if (untilMs <= now) connection.cut();
    this.#sweep =
      this.#connections.length === 0
        ? undefined
        : setTimeout(() => this.#cutExpired(), outgoingLimits.upstreamRestSweepMs).unref();
  }
}
