import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { Webhook as StandardWebhook } from "standardwebhooks";

/** A request that a webhook made. */
export type Received = {
  path: string;
  headers: Record<string, string>;
  /** The exact bytes, as text. */
  body: string;
  json: Record<string, unknown>;
  atMs: number;
};

/** A server that webhooks call. It responds with 200 unless the test sets another response for a path. */
export type Receiver = {
  url: string;
  received: Received[];
  on(path: string): Received[];
  answer(path: string, respond: (request: IncomingMessage, response: ServerResponse) => void): void;
  close(): Promise<void>;
};

export async function startReceiver(port = 0): Promise<Receiver> {
  const received: Received[] = [];
  const answers = new Map<string, (request: IncomingMessage, response: ServerResponse) => void>();
  const server: Server = createServer((request, response) => {
    const read = (bytes: Buffer): void => {
      const body = bytes.toString();
      const path = request.url ?? "";
      const headers = request.headers as Record<string, string>;
      const json = JSON.parse(body) as Record<string, unknown>;
      received.push({ path, headers, body, json, atMs: Date.now() });
      const respond = answers.get(path);
      if (respond) respond(request, response);
      else response.end("ok");
    };
    // An aborted request does not count as received.
    buffer(request).then(read, () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    on: (path) => received.filter((request) => request.path === path),
    answer: (path, respond) => void answers.set(path, respond),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Verifies like a receiver with the reference library; throws if the signature is wrong. */
export function verify(secret: string, { body, headers }: Pick<Received, "body" | "headers">): unknown {
  return new StandardWebhook(secret).verify(body, headers);
}
