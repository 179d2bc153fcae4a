import type { Server } from "node:http";
import type { Socket } from "node:net";
import { bySecond } from "../../lib/by-second.ts";
import { TurnQueue } from "../../lib/turn-queue.ts";
import { httpLimits } from "../limits.ts";
import type { ClientAddresses } from "../client-address.ts";
import type { Incoming } from "../incoming.ts";
import type { ResponseWriter } from "../response-writer.ts";
import type { Route } from "../serve.ts";
import { PlainConnection } from "./plain-connection.ts";

/** Serves plain requests of known paths by itself; see `createPlainLane`. */
export type PlainLane = {
  /** @param path without parameters; it answers with and without a trailing slash */
  add(path: string, route: Route): void;
  /** Closes connections that have nothing under way; with `isLate` all of them. */
  close(isLate: boolean): void;
};

const httpDate = bySecond((ms) => new Date(ms).toUTCString());

/**
 * A second reader of HTTP/1.1 before Node's, for small POST requests in plain form, as SDKs send model calls and spans: it
 * spares them what `node:http` and a router cost (ADR 0019). It takes a request only when it is whole and unmistakable
 * (`read-head.ts`); with any other the connection goes to Node for good, nothing of it used up. So there are no
 * decisions about odd requests here, and no timeouts but for silence.
 */
export function createPlainLane(
  server: Server,
  {
    serve,
    isIdle,
    isClosing,
    addresses,
  }: {
    serve: (route: Route, incoming: Incoming, response: ResponseWriter) => void;
    /** No request is under way. */
    isIdle: () => boolean;
    isClosing: () => boolean;
    addresses: ClientAddresses;
  },
): PlainLane {
  const routes = new Map<string, Route>();
  const connections = new Set<PlainConnection>();
  const toNode = server.listeners("connection") as Array<(this: Server, socket: Socket) => void>;
  const arrived = new TurnQueue<{ route: Route; incoming: Incoming; response: ResponseWriter }>((requests) => {
    for (const { route, incoming, response } of requests) serve(route, incoming, response);
  });
  const options = {
    addresses,
    answers: { keepsAlive: () => !isClosing(), date: () => httpDate(Date.now()) },
    serve(incoming: Incoming, response: ResponseWriter): boolean {
      const route = routes.get(incoming.url);
      if (route === undefined) return false;
      arrived.add({ route, incoming, response }, isIdle());
      return true;
    },
    giveAway(socket: Socket): void {
      for (const listener of toNode) listener.call(server, socket);
    },
    onClose: (connection: PlainConnection) => void connections.delete(connection),
  };

  server.removeAllListeners("connection");
  server.on("connection", (socket: Socket) => connections.add(new PlainConnection(socket, options)));
  const sweep = setInterval(() => {
    const nowMs = performance.now();
    for (const connection of connections) connection.sweep(nowMs);
  }, httpLimits.plainSweepMs).unref();
  server.once("close", () => clearInterval(sweep));

  return {
    add(path, route) {
      const plain = path.replace(/\/+$/, "");
      routes.set(plain, route).set(`${plain}/`, route);
    },
    close(isLate) {
      for (const connection of connections) connection.close(isLate);
    },
  };
}
