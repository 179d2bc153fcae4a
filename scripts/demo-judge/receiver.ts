import { createServer, type IncomingHttpHeaders } from "node:http";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";
import { listenLocally } from "./listen-locally.ts";

/** A received webhook event. */
export type Delivered = {
  type: string;
  body: Record<string, unknown>;
  /**
   * Whether it was signed with this secret. A receiver that knows its secret must check this before it parses the
   * event.
   */
  isGenuine(secret: string): boolean;
};

export type Receiver = { url: string; delivered: readonly Delivered[]; close(): void };

export async function startReceiver(): Promise<Receiver> {
  const delivered: Delivered[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      delivered.push({
        type: String(request.headers["x-svc-event"]),
        body: JSON.parse(body) as Record<string, unknown>,
        isGenuine: (secret) => isGenuine(secret, body, request.headers),
      });
      response.end();
    });
  });
  return { ...(await listenLocally(server)), delivered };
}

function isGenuine(secret: string, body: string, headers: IncomingHttpHeaders): boolean {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}
