import { bytesToRemove } from "./disk-space.ts";
import type { JournalDatabase } from "./journal-database.ts";
import type { ChunkedValues } from "./chunked-values.ts";

/**
 * Entries that the span store has and subscribers still need (ingest/fan-out.ts). Their bytes stay in place; a marker
 * beside them names the subscribers. Once too much is retained, a time range per subscriber and organization replaces
 * the entries, to be read back from the span store: its size is bounded under any load.
 */
export type RetainedEntries = {
  /** Entries of an earlier process, oldest first. */
  list(): RetainedEntry[];
  missed(): MissedRange[];
  /** Removes entries that no subscriber needs any more. */
  acknowledge(seqs: readonly number[]): Promise<void>;
  /** Replaces a range by what remains of it; undefined if all of it was read back. */
  replaceMissed(range: MissedRange, remaining: MissedRange | undefined): Promise<void>;
  stats(): { entries: number; bytes: number };
};

export type RetainedEntry = { seq: number; bytes: number; subscribers: readonly string[] };

/**
 * Spans of one organization that this node received from `from` to `to`, both inclusive, in the time format of the span
 * table.
 */
export type MissedRange = { subscriber: string; organizationId: string; from: string; to: string };

/** What to retain of a group that is stored. */
export type Retention = { entries: readonly RetainedEntry[]; missed: readonly MissedRange[] };

/** Run `put` first in the removal of the other entries from the journal; call `committed` once that has succeeded. */
export type RetainedEntryWrites = RetainedEntries & {
  has(seq: number): boolean;
  /** Writes step by step; yields the pages that each step frees. */
  put(retention: Retention): Iterable<number>;
  bytesOf(retention: Retention): number;
  committed(retention: Retention): void;
};

type Marker = { subscribers: readonly string[]; bytes: number };

export function openRetainedEntries(database: JournalDatabase, entries: ChunkedValues): RetainedEntryWrites {
  const markers = database.root.openDB<Marker, number>({ name: "kept", encoding: "json" });
  const ranges = database.root.openDB<MissedRange, string>({ name: "missed", encoding: "json" });
  const sizes = new Map<number, number>();
  let retainedBytes = 0;
  const track = (seq: number, bytes: number): void => {
    sizes.set(seq, bytes);
    retainedBytes += bytes;
  };
  for (const { key, value } of markers.getRange()) track(key, value.bytes);

  return {
    has: (seq) => sizes.has(seq),
    list: () => Array.from(markers.getRange(), ({ key, value }) => ({ seq: key, ...value })),
    missed: () => Array.from(ranges.getRange(), ({ value }) => value),
    *put({ entries: retained, missed }) {
      for (const { seq, bytes, subscribers } of retained) {
        void markers.put(seq, { subscribers, bytes });
        yield markerPages;
      }
      for (const range of missed) {
        void ranges.put(keyOf(range), range);
        yield markerPages;
      }
    },
    bytesOf: ({ entries: retained, missed }) => (retained.length + missed.length) * markerBytes,
    committed({ entries: retained }) {
      for (const { seq, bytes } of retained) track(seq, bytes);
    },
    async acknowledge(seqs) {
      const removals = function* (): Iterable<number> {
        for (const seq of seqs) {
          void markers.remove(seq);
          yield markerPages;
          yield* entries.remove(seq);
        }
      };
      await database.remove(bytesToRemove(seqs.map((seq) => (sizes.get(seq) ?? 0) + markerBytes)), removals());
      for (const seq of seqs) {
        entries.release(seq);
        retainedBytes -= sizes.get(seq) ?? 0;
        sizes.delete(seq);
      }
    },
    async replaceMissed(range, remaining) {
      const replacement = function* (): Iterable<number> {
        void (remaining === undefined ? ranges.remove(keyOf(range)) : ranges.put(keyOf(range), remaining));
        yield markerPages;
      };
      await database.remove(bytesToRemove([markerBytes]), replacement());
    },
    stats: () => ({ entries: sizes.size, bytes: retainedBytes }),
  };
}

/** An upper bound for the marker of an entry or a range. */
const markerBytes = 2048;
const markerPages = 2;

function keyOf({ subscriber, organizationId }: MissedRange): string {
  return `${subscriber}\n${organizationId}`;
}

/** The smallest range that covers both. */
export function rangeCovering(
  a: { from: string; to: string },
  b: { from: string; to: string },
): { from: string; to: string } {
  return { from: b.from < a.from ? b.from : a.from, to: b.to > a.to ? b.to : a.to };
}
