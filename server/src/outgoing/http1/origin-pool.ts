import type { Socket } from "node:net";
import type { Connector } from "../address-guard.ts";
import { outgoingLimits } from "../limits.ts";
import { Call, Connection, encodeRequest, type ConnectionOwner } from "./connection.ts";
import { ExchangeError } from "./errors.ts";
import type { ExchangeHandler, OutgoingRequest } from "./exchange-handler.ts";

/** The connections to one origin, and the calls that wait for one. */
export class OriginPool implements ConnectionOwner {
  readonly #connect: Connector;
  readonly #maxConnections: number;
  readonly #place: { protocol: string; host: string; hostname: string; port: string };
  readonly #waiting: Call[] = [];
  /**
   * Calls whose idle connection had been closed by the peer. They precede the others, and get only new connections:
   * another idle one may be closing too. The closed connection left room for a new one.
   */
  readonly #unanswered: Call[] = [];
  readonly #connections = new Set<Connection>();
  readonly #idle = new IdleConnections();
  #connecting = 0;
  #isScheduled = false;
  #isClosed = false;
  #onDrained: (() => void) | undefined;

  /** @param origin `https://host:port` */
  constructor(origin: string, connect: Connector, maxConnections: number = outgoingLimits.upstreamConnections) {
    this.#connect = connect;
    this.#maxConnections = maxConnections;
    const { protocol, host, hostname, port } = new URL(origin);
    this.#place = { protocol, host, hostname: hostname.replace(/^\[|\]$/g, ""), port };
  }

  dispatch(request: OutgoingRequest, handler: ExchangeHandler): void {
    const call = new Call(request.method, handler, (abandoned) => this.#remove(abandoned));
    call.start();
    try {
      call.pieces = encodeRequest(request, this.#place.host);
    } catch (error) {
      call.fail(error);
    }
    if (this.#isClosed) call.fail(poolClosed());
    if (call.isOver) return;
    this.#waiting.push(call);
    this.#schedule();
  }

  /** Lets calls in progress finish. `dispatch` must not be called afterwards. */
  retire(onDrained: () => void): void {
    this.#onDrained = onDrained;
    this.#idle.closeAll();
    this.#noteDrained();
  }

  /** Closes all connections: calls in progress fail. */
  close(): void {
    this.#isClosed = true;
    for (let call = this.#takeNext(); call !== undefined; call = this.#takeNext()) call.fail(poolClosed());
    this.#idle.closeAll();
    for (const connection of this.#connections) connection.fail(poolClosed());
  }

  onIdle(connection: Connection, idleMs: number): void {
    if (this.#onDrained !== undefined && this.#waiting.length === 0) return connection.destroy();
    this.#idle.add(connection, idleMs);
    if (this.#waiting.length > 0) this.#schedule();
    return undefined;
  }

  onClosed(connection: Connection): void {
    this.#connections.delete(connection);
    this.#idle.remove(connection);
    if (this.#wanted > 0) this.#schedule();
    this.#noteDrained();
  }

  onUnanswered(call: Call): void {
    // The remaining idle connections have been idle for longer than the one that turned out to be closed.
    this.#idle.closeAll();
    this.#unanswered.push(call);
    this.#schedule();
  }

  get #wanted(): number {
    return this.#unanswered.length + this.#waiting.length;
  }

  #remove(call: Call): void {
    for (const queue of [this.#unanswered, this.#waiting]) {
      const index = queue.indexOf(call);
      if (index !== -1) queue.splice(index, 1);
    }
    this.#noteDrained();
  }

  /**
   * Calls get their connections after all pending socket events: a peer that closed an idle connection, or sent
   * unrequested bytes on it, is noticed before it is reused.
   */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#assign();
    });
  }

  #assign(): void {
    while (this.#waiting.length > 0) {
      const connection = this.#idle.take();
      if (connection === undefined) break;
      const call = this.#waiting.shift();
      if (call !== undefined) connection.send(call);
    }
    while (this.#connecting < this.#wanted && this.#connecting + this.#connections.size < this.#maxConnections) {
      this.#open();
    }
  }

  #open(): void {
    this.#connecting += 1;
    const settle: Parameters<Connector>[1] = (...[error, socket]) => {
      this.#connecting -= 1;
      if (error === null) this.#connected(socket);
      else this.#failed(error);
      this.#noteDrained();
    };
    try {
      this.#connect(this.#place, settle);
    } catch (error) {
      queueMicrotask(() => settle(error as Error, null));
    }
  }

  /** The next call in the queue gets the connection: the call that it was opened for may have got another. */
  #connected(socket: Socket): void {
    const connection = new Connection(socket, this);
    this.#connections.add(connection);
    if (this.#isClosed) return connection.destroy();
    const call = this.#takeNext();
    return call === undefined ? this.onIdle(connection, outgoingLimits.upstreamKeepAliveMs) : connection.send(call);
  }

  /** Fails at most one call, and none if enough connections are still being opened. */
  #failed(error: unknown): void {
    if (this.#wanted <= this.#connecting) return;
    this.#takeNext()?.fail(error);
    this.#assign();
  }

  #takeNext(): Call | undefined {
    return this.#unanswered.shift() ?? this.#waiting.shift();
  }

  #noteDrained(): void {
    if (this.#connections.size + this.#connecting + this.#wanted === 0) this.#onDrained?.();
  }
}

function poolClosed(): ExchangeError {
  return new ExchangeError("CONNECTION_CLOSED", "the connections are being closed");
}

/** Idle connections. The most recently used one is taken first, so that surplus ones expire. */
class IdleConnections {
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
