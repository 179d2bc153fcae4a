import { bytesToRemove } from "./database-pages.ts";
import type { JournalDatabase } from "./journal-database.ts";
import type { LongValues } from "./long-values.ts";

/**
 * Entries that the span store has and subscribers still need (ingest/fan-out.ts). Their bytes stay in place; a note
 * beside them names the subscribers. Once too much is retained, a time range per subscriber and organization replaces
 * the entries, to be read back from the span store: its size is bounded under any load.
 */
export type KeptEntries = {
  /** Entries of an earlier process, oldest first. */
  list(): KeptEntry[];
  missed(): MissedStretch[];
  /** Removes entries that no subscriber needs any more. */
  done(seqs: readonly number[]): Promise<void>;
  /** Replaces a stretch by `rest`; undefined if all of it was read back. */
  replaceMissed(stretch: MissedStretch, rest: MissedStretch | undefined): Promise<void>;
  stats(): { entries: number; bytes: number };
};

export type KeptEntry = { seq: number; bytes: number; subscribers: readonly string[] };

/**
 * Spans of one organization that this node received from `from` to `to`, both inclusive, in the time format of the span
 * table.
 */
export type MissedStretch = { subscriber: string; organizationId: string; from: string; to: string };

/** What to retain of a group that is stored. */
export type Keep = { entries: readonly KeptEntry[]; missed: readonly MissedStretch[] };

/** Run `put` first in the removal of the other entries from the journal; call `committed` once that has succeeded. */
export type KeptEntryWrites = KeptEntries & {
  has(seq: number): boolean;
  /** Writes step by step; yields the pages that each step frees. */
  put(keep: Keep): Iterable<number>;
  bytesOf(keep: Keep): number;
  committed(keep: Keep): void;
};

type Marker = { subscribers: readonly string[]; bytes: number };

export function openKeptEntries(database: JournalDatabase, entries: LongValues): KeptEntryWrites {
  const markers = database.root.openDB<Marker, number>({ name: "kept", encoding: "json" });
  const stretches = database.root.openDB<MissedStretch, string>({ name: "missed", encoding: "json" });
  const sizes = new Map<number, number>();
  let keptBytes = 0;
  const hold = (seq: number, bytes: number): void => {
    sizes.set(seq, bytes);
    keptBytes += bytes;
  };
  for (const { key, value } of markers.getRange()) hold(key, value.bytes);

  return {
    has: (seq) => sizes.has(seq),
    list: () => Array.from(markers.getRange(), ({ key, value }) => ({ seq: key, ...value })),
    missed: () => Array.from(stretches.getRange(), ({ value }) => value),
    *put({ entries: kept, missed }) {
      for (const { seq, bytes, subscribers } of kept) {
        void markers.put(seq, { subscribers, bytes });
        yield notePages;
      }
      for (const stretch of missed) {
        void stretches.put(keyOf(stretch), stretch);
        yield notePages;
      }
    },
    bytesOf: ({ entries: kept, missed }) => (kept.length + missed.length) * noteBytes,
    committed({ entries: kept }) {
      for (const { seq, bytes } of kept) hold(seq, bytes);
    },
    async done(seqs) {
      const removals = function* (): Iterable<number> {
        for (const seq of seqs) {
          void markers.remove(seq);
          yield notePages;
          yield* entries.remove(seq);
        }
      };
      await database.clear(bytesToRemove(seqs.map((seq) => (sizes.get(seq) ?? 0) + noteBytes)), removals());
      for (const seq of seqs) {
        entries.forget(seq);
        keptBytes -= sizes.get(seq) ?? 0;
        sizes.delete(seq);
      }
    },
    async replaceMissed(stretch, rest) {
      const replacement = function* (): Iterable<number> {
        void (rest === undefined ? stretches.remove(keyOf(stretch)) : stretches.put(keyOf(stretch), rest));
        yield notePages;
      };
      await database.clear(bytesToRemove([noteBytes]), replacement());
    },
    stats: () => ({ entries: sizes.size, bytes: keptBytes }),
  };
}

/** An upper bound for the note about an entry or a stretch. */
const noteBytes = 2048;
const notePages = 2;

function keyOf({ subscriber, organizationId }: MissedStretch): string {
  return `${subscriber}\n${organizationId}`;
}

/** The stretch that covers both. */
export function stretchTogether(
  a: { from: string; to: string },
  b: { from: string; to: string },
): { from: string; to: string } {
  return { from: b.from < a.from ? b.from : a.from, to: b.to > a.to ? b.to : a.to };
}
