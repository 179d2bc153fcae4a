import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ingestLimits } from "../../src/ingest/limits.ts";
import { ndjsonLine, spanRow } from "../../src/storage/spans/contract/span-fixtures.ts";
import { openSpanStore } from "../../src/storage/spans/clickhouse-span-store.ts";
import { newDataDir, startServerProcess, type ServerProcess } from "../support/server-process.ts";
import { always } from "../support/spans.ts";

/** Section C of the additions: the memory of the server does not depend on how much is exported. */

const MB = 1e6;
const mayRiseBytes = 150 * MB;
const textBytes = 100_000;
const inserts = 8;
const spansPerInsert = Math.floor(ingestLimits.writerGroupBytes / textBytes);
const spans = inserts * spansPerInsert;
const organization = "org_export_memory";

const dataDir = newDataDir();
let server: ServerProcess;
beforeAll(async () => {
  // Sending this many bytes over HTTP would take longer than all that is measured. Inserts are as large as the
  // server's, and each has its own month, so none are merged: merging takes memory too and creates parts of another
  // kind.
  const store = openSpanStore({ kind: "chdb", path: join(dataDir.path, "spans") });
  await store.migrate();
  for (let insert = 1; insert <= inserts; insert += 1) {
    const rows = Array.from({ length: spansPerInsert }, (_, n) => {
      const id = `${insert}-${n}`;
      return spanRow(organization, {
        timestamp: `2025-0${insert}-05 05:05:05.000000000`,
        trace_unique_id: id,
        span_unique_id: id,
        input: `${id} "said" `.repeat(textBytes / 8).slice(0, textBytes),
        // Incompressible, because Parquet is compressed.
        output: randomBytes(10_000).toString("base64"),
      });
    });
    await store.insert({ ndjson: Buffer.from(rows.map(ndjsonLine).join("")), rows: rows.length, token: `${insert}` });
  }
  await store.close();
  server = await startServerProcess(dataDir.path, { SPANWAY_ORGANIZATION_ID: organization });
}, 60_000);
afterAll(async () => {
  await server.kill("SIGTERM");
  await dataDir.remove();
});

/** Without file pages, which the kernel drops and reads again at will. */
function memoryBytes(): number {
  const status = readFileSync(`/proc/${server.child.pid}/status`, "utf8");
  return Number(/RssAnon:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

/** The size of an export, and the rise of memory until it is read by a client that pauses first. */
async function exported(path: string): Promise<{ bytes: number; riseBytes: number }> {
  const before = memoryBytes();
  let most = before;
  const watch = setInterval(() => (most = Math.max(most, memoryBytes())), 10);
  const response = await fetch(`${server.url}${path}&${always}`, {
    method: "POST",
    headers: { authorization: server.prod.authorization, "accept-encoding": "identity" },
    body: "{}",
  });
  expect(response.status).toBe(200);
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    if (bytes === 0) await sleep(500);
    bytes += (piece as Uint8Array).length;
  }
  clearInterval(watch);
  return { bytes, riseBytes: most - before };
}

test.each([
  ["/api/request-logs/export/?format=jsonl", spans * textBytes],
  ["/api/request-logs/export/?format=csv", spans * textBytes],
  ["/api/request-logs/export/?format=parquet", spans * 10_000],
  ["/api/traces/export/?format=jsonl", spans * textBytes],
])(
  "%s takes no more memory for a large export than for a small one",
  async (path, leastBytes) => {
    // Other work of the server may add to one run. An export that buffers its output does so in every run.
    let least = Number.POSITIVE_INFINITY;
    for (let attempt = 0; attempt < 3 && least > mayRiseBytes; attempt += 1) {
      const { bytes, riseBytes } = await exported(path);
      expect(bytes).toBeGreaterThan(leastBytes);
      least = Math.min(least, riseBytes);
    }
    expect(least / MB).toBeLessThan(mayRiseBytes / MB);
  },
  60_000,
);
