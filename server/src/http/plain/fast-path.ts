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

/** The fast path: serves plain requests of known paths; see `createFastPath`. */
export type FastPath = {
  /** @param path without parameters; served with and without a trailing slash */
  add(path: string, route: Route): void;
  /** Closes connections without a response in progress; with `isLate`, all of them. */
  close(isLate: boolean): void;
};

const httpDate = bySecond((ms) => new Date(ms).toUTCString());

/**
 * An HTTP/1.1 reader in front of Node's, for small plain POST requests, such as the model calls and spans of SDKs: it
 * saves the cost of `node:http` and a router (ADR 0019). It serves a request only if it is complete and unambiguous
 * (`read-head.ts`); on any other request, the connection goes to Node permanently, with none of its bytes consumed. So
 * this code never decides about unusual requests, and its only timeouts are for idle and incomplete ones.
 */
export function createFastPath(
  server: Server,
  {
    serve,
    isIdle,
    isClosing,
    addresses,
  }: {
    serve: (route: Route, incoming: Incoming, response: ResponseWriter) => void;
    /** Whether no request is in progress. */
    isIdle: () => boolean;
    isClosing: () => boolean;
    addresses: ClientAddresses;
  },
): FastPath {
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
    delegate(socket: Socket): void {
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
