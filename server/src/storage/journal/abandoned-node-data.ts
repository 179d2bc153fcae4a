import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openCallSpool } from "./call-spool.ts";
import { bytesToRemove } from "./disk-space.ts";
import { openDatabase } from "./journal-database.ts";
import { openLogRecordStore } from "./log-record-store.ts";
import { openChunkedValues } from "./chunked-values.ts";
import { openQuarantine } from "./quarantine.ts";

/** Data of a node that never comes back, one item at a time. Call `acknowledge` once this node has the item on disk. */
export type AbandonedNodeData = {
  /** Spans of calls, one line each. */
  calls(): Iterable<Buffer>;
  /** Entries that the span store does not have yet, and entries that a subscriber has not consumed yet. */
  entries(): Iterable<{ payload: Buffer; acknowledge: () => Promise<void> }>;
  quarantined(): Iterable<{ payload: Buffer; reason: string; acknowledge: () => Promise<void> }>;
  logRecords(): Iterable<{ key: string; text: string; acknowledge: () => Promise<void> }>;
  close(): Promise<void>;
  /** Deletes everything. Call it after `close`. */
  remove(): void;
};

export function openAbandonedNodeData(path: string): AbandonedNodeData {
  const database = openDatabase(join(path, "journal"));
  const entries = openChunkedValues(database, { firstChunks: "entries", laterChunks: "entry-pieces" });
  const quarantine = openQuarantine(database, Date.now);
  const logsPath = join(path, "otlp-logs");
  const logs = existsSync(logsPath) ? openDatabase(logsPath, "json") : undefined;
  const records = logs && openLogRecordStore(logs);
  return {
    *calls() {
      const spool = openCallSpool({ path: join(path, "calls"), maxBytes: 0, onProblem: () => undefined });
      try {
        for (const previous of spool.previous) yield* previous.texts();
      } finally {
        spool.close();
      }
    },
    *entries() {
      for (const { key, value } of entries.range(0)) {
        const acknowledge = () => database.remove(bytesToRemove([value.byteLength]), entries.remove(key));
        yield { payload: value, acknowledge };
      }
    },
    *quarantined() {
      for (const { id, payload, reason } of quarantine.entries()) {
        yield { payload, reason, acknowledge: () => quarantine.drop([id]) };
      }
    },
    *logRecords() {
      for (const { seq, record } of records?.all() ?? []) {
        yield {
          key: record.key,
          text: record.text,
          acknowledge: async () => await records?.remove([{ seq, text: record.text }]),
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
