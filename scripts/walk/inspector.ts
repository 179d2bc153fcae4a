/** A connection to the inspector of a Node process, over Chrome's DevTools protocol. */
export type Inspector = {
  /** @throws Error with the inspector's message if it rejects the command */
  send<T = unknown>(method: string, params?: object): Promise<T>;
  on(method: string, listener: (params: never) => void): void;
  close(): void;
};

type Message = { id?: number; method?: string; params?: never; result?: unknown; error?: { message: string } };

/** @param url as Node prints it: `ws://127.0.0.1:9229/…` */
export async function connectInspector(url: string): Promise<Inspector> {
  const socket = new WebSocket(url);
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve);
    socket.addEventListener("error", () => reject(new Error(`no inspector answers at ${url}`)));
  });
  const waiting = new Map<number, (message: Message) => void>();
  const listeners = new Map<string, (params: never) => void>();
  socket.addEventListener("message", ({ data }) => {
    const message = JSON.parse(String(data)) as Message;
    if (message.id !== undefined) waiting.get(message.id)?.(message);
    else listeners.get(message.method ?? "")?.(message.params as never);
  });
  let lastId = 0;
  return {
    send<T>(method: string, params: object = {}) {
      const id = (lastId += 1);
      return new Promise<T>((resolve, reject) => {
        waiting.set(id, ({ result, error }) => {
          waiting.delete(id);
          if (error === undefined) resolve(result as T);
          else reject(new Error(`${method}: ${error.message}`));
        });
        socket.send(JSON.stringify({ id, method, params }));
      });
    },
    on: (method, listener) => void listeners.set(method, listener),
    close: () => socket.close(),
  };
}
