import type { DeletedTraces } from "./deleted-traces.ts";
import { recallSpan } from "./recalled-span.ts";
import { splitLines, unmarked } from "../writer/row-lines.ts";

/** Removes rows of deleted traces from an entry that an earlier process, or another node, accepted. Tombstones stay. */
export function leaveOutDeleted(payload: Buffer, deletedTraces: Pick<DeletedTraces, "covers" | "stats">): Buffer {
  if (deletedTraces.stats().traces === 0) return payload;
  const retained = splitLines(payload).filter((line) => {
    const span = recallSpan(unmarked(line));
    if (span === undefined || span.row.is_deleted === 1) return true;
    return !deletedTraces.covers(span.row, span.timestampNs);
  });
  return Buffer.concat(retained);
}
