import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openCallSpool } from "./call-spool.ts";
import { bytesToRemove } from "./database-pages.ts";
import { openDatabase } from "./journal-database.ts";
import { openLogRecords } from "./log-records.ts";
import { openLongValues } from "./long-values.ts";
import { openQuarantine } from "./quarantine.ts";

/** Data that another node left, one item at a time. Call `forget` once this node has the item on disk. */
export type HandedOver = {
  /** Spans of calls, one line each. */
  calls(): Iterable<Buffer>;
  /** Entries that the span store does not have yet, and entries that a subscriber has not consumed yet. */
  entries(): Iterable<{ payload: Buffer; forget: () => Promise<void> }>;
  quarantined(): Iterable<{ payload: Buffer; reason: string; forget: () => Promise<void> }>;
  logRecords(): Iterable<{ key: string; text: string; forget: () => Promise<void> }>;
  close(): Promise<void>;
  /** Deletes everything. Call it after `close`. */
  remove(): void;
};

export function openHandedOver(path: string): HandedOver {
  const database = openDatabase(join(path, "journal"));
  const entries = openLongValues(database, { firsts: "entries", others: "entry-pieces" });
  const quarantine = openQuarantine(database, Date.now);
  const logsPath = join(path, "otlp-logs");
  const logs = existsSync(logsPath) ? openDatabase(logsPath, "json") : undefined;
  const records = logs && openLogRecords(logs);
  return {
    *calls() {
      const spool = openCallSpool({ path: join(path, "calls"), maxBytes: 0, onProblem: () => undefined });
      try {
        for (const left of spool.left) yield* left.texts();
      } finally {
        spool.close();
      }
    },
    *entries() {
      for (const { key, value } of entries.range(0)) {
        const forget = () => database.clear(bytesToRemove([value.byteLength]), entries.remove(key));
        yield { payload: value, forget };
      }
    },
    *quarantined() {
      for (const { id, payload, reason } of quarantine.entries()) {
        yield { payload, reason, forget: () => quarantine.drop([id]) };
      }
    },
    *logRecords() {
      for (const { seq, record } of records?.all() ?? []) {
        yield {
          key: record.key,
          text: record.text,
          forget: async () => await records?.remove([{ seq, text: record.text }]),
        };
      }
    },
    async close() {
      await database.close();
      await logs?.close();
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}
