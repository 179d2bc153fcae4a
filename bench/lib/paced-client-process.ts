import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** The parent's request: this many concurrent streams, each restarted when it ends, for this long. */
export type PacedLoad = {
  url: string;
  headers: Record<string, string>;
  body: Buffer;
  streams: number;
  seconds: number;
  /** The length of one stream, over which the first starts are spread. */
  streamSeconds: number;
};
/**
 * Time from the request to the first token, for each stream that started while all others were running; and counts of
 * all streams.
 */
export type PacedResult = { firstTokenMs: number[]; started: number; finished: number; failures: number };

process.once("message", (load: PacedLoad) => void run(load).then((result) => process.send?.(result)));

async function run({ url, headers, body, streams, seconds, streamSeconds }: PacedLoad): Promise<PacedResult> {
  const { hostname, port, pathname } = new URL(url);
  const lines = Object.entries({ ...headers, "content-length": body.byteLength }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  const head = `POST ${pathname} HTTP/1.1\r\nhost: ${hostname}:${port}\r\n${lines.join("")}\r\n`;
  const request = Buffer.concat([Buffer.from(head), body]);
  const result: PacedResult = { firstTokenMs: [], started: 0, finished: 0, failures: 0 };
  const began = performance.now();
  const settledAt = began + streamSeconds * 1000;
  const endsAt = began + seconds * 1000;

  const worker = async (index: number): Promise<void> => {
    await sleep((index / streams) * streamSeconds * 1000);
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), hostname).setNoDelay(true);
      let sentAt = 0;
      let waits = false;
      const send = (): void => {
        result.started += 1;
        waits = true;
        sentAt = performance.now();
        socket.write(request);
      };
      socket.on("connect", send);
      socket.on("data", (bytes) => {
        const now = performance.now();
        if (waits && bytes.includes("button")) {
          waits = false;
          if (sentAt > settledAt) result.firstTokenMs.push(now - sentAt);
        } else if (waits && bytes.includes("HTTP/1.1 ") && !bytes.includes("HTTP/1.1 200")) {
          result.failures += 1;
          socket.destroy();
        }
        if (now > endsAt) socket.destroy();
        else if (bytes.length >= 5 && bytes.subarray(-5).toString() === "0\r\n\r\n") {
          result.finished += 1;
          send();
        }
      });
      socket.on("error", () => (result.failures += 1));
      socket.on("close", () => resolve());
    });
  };
  await Promise.all(Array.from({ length: streams }, (_, index) => worker(index)));
  return result;
}
