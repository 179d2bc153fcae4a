import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** A proxy between a node and a server that can disconnect, or stop forwarding as when the server hangs. */
export type TcpProxy = {
  /** The server's URL, through the proxy. */
  url: string;
  /** Drops all connections and refuses new ones. */
  disconnect(): void;
  /** Keeps connections, accepts new ones, and forwards nothing. */
  hang(): void;
  /** Resumes forwarding; delayed bytes arrive. */
  resume(): void;
  stop(): Promise<void>;
};

export async function startTcpProxy(serverUrl: string): Promise<TcpProxy> {
  const target = new URL(serverUrl);
  let state: "open" | "cut" | "hung" = "open";
  const pairs = new Map<Socket, Socket>();
  const server = createServer({ pauseOnConnect: true }, (near) => {
    if (state === "cut") {
      near.resetAndDestroy();
      return;
    }
    const far = connect(Number(target.port), target.hostname);
    pairs.set(near, far);
    for (const [from, to] of [[near, far] as const, [far, near] as const]) {
      from.on("error", () => to.destroy());
      from.on("close", () => to.destroy());
      from.on("data", (data) => void to.write(data));
    }
    near.on("close", () => pairs.delete(near));
    far.pause();
    if (state === "open") for (const socket of [near, far]) socket.resume();
  });
  const each = (act: (socket: Socket) => void): void => {
    for (const pair of pairs) pair.forEach(act);
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = new URL(serverUrl);
  url.hostname = "127.0.0.1";
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    disconnect() {
      state = "cut";
      each((socket) => socket.destroy());
    },
    hang() {
      state = "hung";
      each((socket) => socket.pause());
    },
    resume() {
      state = "open";
      each((socket) => socket.resume());
    },
    async stop() {
      each((socket) => socket.destroy());
      server.close();
      await once(server, "close");
    },
  };
}
