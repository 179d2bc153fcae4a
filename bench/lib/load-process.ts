import { connect } from "node:net";
import { percentile } from "./figures.ts";
import type { Load, LoadResult } from "./load.ts";

/** The load generator if wrk is not installed: bare sockets, with minimal work per response. */

process.once("message", (load: Load) => void run(load).then((result) => process.send?.(result)));

const chunkedEnd = Buffer.from("0\r\n\r\n");

async function run({ url, headers, body, connections, seconds }: Load): Promise<LoadResult> {
  const { hostname, port, pathname } = new URL(url);
  const lines = Object.entries({ ...headers, "content-length": body.byteLength }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  const head = `POST ${pathname} HTTP/1.1\r\nhost: ${hostname}:${port}\r\n${lines.join("")}\r\n`;
  const request = Buffer.concat([Buffer.from(head), body]);
  const timesMs: number[] = [];
  let failures = 0;
  const began = performance.now();
  const endsAt = began + seconds * 1000;

  const worker = (): Promise<void> =>
    new Promise((resolve) => {
      const socket = connect(Number(port), hostname).setNoDelay(true);
      let sentAt = 0;
      let left = -1;
      let answer = Buffer.alloc(0);
      const send = (): void => {
        if (performance.now() > endsAt) {
          socket.destroy();
          return;
        }
        left = -1;
        answer = Buffer.alloc(0);
        sentAt = performance.now();
        socket.write(request);
      };
      const finished = (): void => {
        timesMs.push(performance.now() - sentAt);
        send();
      };
      socket.on("connect", send);
      socket.on("data", (bytes) => {
        if (left >= 0) left -= bytes.length;
        else {
          answer = Buffer.concat([answer, bytes]);
          const headEnd = answer.indexOf("\r\n\r\n");
          if (headEnd === -1) return;
          const text = answer.toString("latin1", 0, headEnd);
          if (!text.startsWith("HTTP/1.1 200")) failures += 1;
          const length = /content-length: (\d+)/i.exec(text)?.[1];
          left = length === undefined ? Number.MAX_SAFE_INTEGER : Number(length) + headEnd + 4 - answer.length;
        }
        const isLast = bytes.length >= 5 && bytes.subarray(-5).equals(chunkedEnd);
        if (left <= 0 || isLast) finished();
      });
      socket.on("error", () => (failures += 1));
      socket.on("close", () => resolve());
    });
  await Promise.all(Array.from({ length: connections }, worker));
  const elapsedS = (performance.now() - began) / 1000;
  return {
    perS: timesMs.length / elapsedS,
    p50Ms: percentile(timesMs, 0.5),
    p99Ms: percentile(timesMs, 0.99),
    requests: timesMs.length,
    failures,
  };
}
