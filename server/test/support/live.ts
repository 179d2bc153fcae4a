import { request as httpRequest, type IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Row } from "./test-client.ts";

export const livePath = "/api/request-logs/live/";

export type LiveEvent = { event: string; id: string; data: Row };
export type LiveStream = {
  response: IncomingMessage;
  events: LiveEvent[];
  comments: string[];
  /** The value of the last `id:` line, in any event. */
  lastId: () => string;
  ended: Promise<void>;
  isEnded: () => boolean;
  close: () => void;
};

/** Opens a stream and reads it until it is closed. @param headers the credential, and others */
export async function listenLive(url: string, query: string, headers: Record<string, string>): Promise<LiveStream> {
  const outgoing = httpRequest(new URL(`${livePath}?${query}`, url), { headers, agent: false });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once("response", resolve).once("error", reject).end();
  });
  outgoing.on("error", () => undefined);
  if (response.statusCode !== 200) throw new Error(`live answered ${response.statusCode}`);
  const [events, comments]: [LiveEvent[], string[]] = [[], []];
  let [text, lastId, isEnded] = ["", "", false];
  response.setEncoding("utf8").on("data", (piece: string) => {
    text += piece;
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const lines = block.split("\n");
      const value = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      lastId = value("id") ?? lastId;
      const data = value("data");
      if (data !== undefined)
        events.push({ event: value("event") ?? "message", id: lastId, data: JSON.parse(data) as Row });
      if (block.startsWith(":")) comments.push(block);
    }
  });
  response.on("error", () => undefined);
  const ended = new Promise<void>((resolve) => response.once("close", resolve)).then(() => void (isEnded = true));
  const stream = { response, events, comments, lastId: () => lastId, ended, isEnded: () => isEnded };
  await until(() => lastId !== "" || comments.length > 0);
  return { ...stream, close: () => void outgoing.destroy() };
}

export async function until(isSo: () => boolean, withinMs = 8_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!isSo()) {
    if (performance.now() > deadline) throw new Error("it did not happen in time");
    await sleep(20);
  }
}

/** The names of the received spans, and the number of skipped ones; NaN if that is unknown. */
export function gotBy({ events }: Pick<LiveStream, "events">): { names: string[]; skipped: number } {
  const skips = events.filter(({ event }) => event === "skipped");
  return {
    names: namesOf(events.filter(({ event }) => event === "message")),
    skipped: skips.reduce((sum, { data }) => sum + (data["count"] === null ? NaN : Number(data["count"])), 0),
  };
}

export const namesOf = (events: readonly LiveEvent[]): string[] => events.map(({ data }) => String(data["span_name"]));
