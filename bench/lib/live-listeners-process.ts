import { request } from "node:http";
import { benchKey } from "./bench-server.ts";

export type LiveLoad = { url: string; listeners: number };
/** `delaysMs` is the delay of the first event of each chunk, from the time in its `span_name`. */
export type LiveResult = { delaysMs: number[]; events: number; skipped: number };

const result: LiveResult = { delaysMs: [], events: 0, skipped: 0 };

function listen(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const path = "/api/request-logs/live/?include_fields=model,span_name,input,output";
    const headers = { authorization: `Bearer ${benchKey}` };
    const outgoing = request(new URL(path, url), { agent: false, headers }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`the server responded with ${response.statusCode}`));
      let text = "";
      response.setEncoding("utf8").on("data", (piece: string) => {
        text += piece;
        const blocks = text.split("\n\n");
        text = blocks.pop() ?? "";
        if (blocks.length > 0) read(blocks);
      });
      resolve();
    });
    outgoing.once("error", reject).end();
  });
}

/** All events are counted and one is parsed: 100 streams of 1,000 events a second are more than a core can parse. */
function read(blocks: readonly string[]): void {
  const others = blocks.filter((block) => !block.startsWith("id: ") || !block.includes("\ndata: "));
  result.events += blocks.length - others.length;
  for (const block of others) {
    const skipped = /^event: skipped\ndata: \{"count":(\d+|null)\}/.exec(block)?.[1];
    if (skipped !== undefined) result.skipped += Number(skipped);
  }
  const sentMs = /"span_name":"(\d+)"/.exec(blocks[0] ?? "")?.[1];
  if (sentMs !== undefined) result.delaysMs.push(Date.now() - Number(sentMs));
}

process.on("message", (message: LiveLoad | "end") => {
  if (message === "end") {
    process.send?.(result);
    process.exitCode = 0;
    return;
  }
  void Promise.all(Array.from({ length: message.listeners }, () => listen(message.url))).then(() =>
    process.send?.("open"),
  );
});
process.once("disconnect", () => process.exit());
