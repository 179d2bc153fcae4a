import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { Registry } from "prom-client";
import { afterEach } from "vitest";
import { openJournal, type Journal } from "../../storage/journal/journal.ts";
import type { SpanBatch } from "../../storage/spans/span-store.ts";
import { createIngestMetrics } from "../../telemetry/ingest-metrics.ts";
import { createSpanWriter, type SpanWriter, type SpanWriterDeps } from "./writer.ts";

/** Takes inserts; `script` may fail or delay them. */
export type Sink = { batches: SpanBatch[]; insert(batch: SpanBatch, signal?: AbortSignal): Promise<void> };

export type Bench = { journal: Journal; writer: SpanWriter; registry: Registry; path: string };

export const cleanup: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const undo of cleanup.splice(0).reverse()) await undo();
});

export function sinkOf(script: (batch: SpanBatch, attempt: number) => void | Promise<void> = () => undefined): Sink {
  let attempts = 0;
  const batches: SpanBatch[] = [];
  return {
    batches,
    async insert(batch) {
      attempts += 1;
      await script(batch, attempts);
      // The writer frees its memory afterwards.
      batches.push({ ...batch, ndjson: Buffer.from(batch.ndjson) });
    },
  };
}

export function newFolder(): string {
  const path = mkdtempSync(join(tmpdir(), "spanway-writer-"));
  cleanup.push(() => rm(path, { recursive: true, force: true }));
  return path;
}

export function bench(
  sink: Sink,
  path = newFolder(),
  over: (journal: Journal) => Partial<Journal> = () => ({}),
  more: Pick<SpanWriterDeps, "reads" | "groups"> = {},
): Bench {
  const opened = openJournal({ path, maxBytes: 1e9, maxEntries: 1e6, identityMemoryMs: 1e9, now: Date.now });
  const journal = { ...opened, ...over(opened) };
  const registry = new Registry();
  const writer = createSpanWriter({
    journal,
    store: sink,
    metrics: createIngestMetrics(registry, journal),
    ...more,
    logger: pino({ level: "silent" }),
    nodeId: "node",
    now: Date.now,
  });
  cleanup.push(async () => {
    await writer.stop(0);
    await journal.close();
  });
  return { journal, writer, registry, path };
}

const payloadOf = (rows: readonly string[]): Buffer => Buffer.from(rows.map((row) => `{"${row}\n`).join(""));

export async function add({ journal, writer }: Bench, ...rows: string[]): Promise<void> {
  const payload = payloadOf(rows);
  writer.add(await journal.append({ payload, rows: rows.length, identities: [] }), payload);
}

/** Puts rows into the journal before the writer starts, which finds them there. */
export async function leave({ journal }: Bench, ...rows: string[]): Promise<void> {
  await journal.append({ payload: payloadOf(rows), rows: rows.length, identities: [] });
}

export const rowsOf = (batches: readonly SpanBatch[]): string[] =>
  batches.flatMap(({ ndjson }) => ndjson.toString().trimEnd().split("\n").map(textOf));
/** A row without its brace and without the resend mark. */
export const textOf = (line: string): string => line.replace(/^\{("is_resend":1,)?"?/, "");
export const numbered = (count: number): string[] => Array.from({ length: count }, (_, i) => `row ${i}`);
export const metric = async (registry: Registry, name: string): Promise<number> =>
  (await registry.getSingleMetric(name)?.get())?.values[0]?.value ?? Number.NaN;
