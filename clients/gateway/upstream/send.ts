import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

/** One write per event, so that events arrive one by one. */
export async function sendEvents(
  response: ServerResponse,
  events: Iterable<string> | AsyncIterable<string>,
): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for await (const event of events) {
    if (response.destroyed) return;
    response.write(event);
  }
  response.end();
}

export function dataEvent(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

/** "1 ", "2 ", … until the client disconnects; at most a minute. */
export async function* counted(response: ServerResponse): AsyncGenerator<string> {
  for (let n = 1; n <= 3_000 && !response.destroyed; n += 1) {
    yield `${n} `;
    await sleep(20);
  }
}
