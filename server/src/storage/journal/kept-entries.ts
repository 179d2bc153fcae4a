import { bytesToRemove } from "./database-pages.ts";
import type { JournalDatabase } from "./journal-database.ts";
import type { LongValues } from "./long-values.ts";

/**
 * Entries that the span store has and subscribers still need (ingest/fan-out.ts). Their bytes stay where they are; what is
 * written beside them is who needs them. Once too much is kept, a stretch of time per subscriber and organisation stands
 * in for entries, to be read back from the span store: that is bounded whatever comes.
 */
export type KeptEntries = {
  /** What an earlier process left, oldest first. */
  list(): KeptEntry[];
  missed(): MissedStretch[];
  /** Forgets entries that nobody needs any more. */
  done(seqs: readonly number[]): Promise<void>;
  /** Puts `rest` in the place of a stretch; undefined when all of it was read back. */
  replaceMissed(stretch: MissedStretch, rest: MissedStretch | undefined): Promise<void>;
  stats(): { entries: number; bytes: number };
};

export type KeptEntry = { seq: number; bytes: number; subscribers: readonly string[] };

/** Spans of one organisation that this node received from `from` to `to`, both inclusive, as the table writes times. */
export type MissedStretch = { subscriber: string; organizationId: string; from: string; to: string };

/** What the writer asks to be kept of a group that is stored. */
export type Keep = { entries: readonly KeptEntry[]; missed: readonly MissedStretch[] };

/** `put` comes first in what takes the others out of the journal; `committed` is called once that ended well. */
export type KeptEntryWrites = KeptEntries & {
  has(seq: number): boolean;
  /** Bit by bit, with the pages that each bit frees. */
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

/** More than is written about an entry or a stretch. */
const noteBytes = 2048;
const notePages = 2;

function keyOf({ subscriber, organizationId }: MissedStretch): string {
  return `${subscriber}\n${organizationId}`;
}

/** The stretch from the beginning of the one that begins first to the end of the one that ends last. */
export function stretchTogether(
  a: { from: string; to: string },
  b: { from: string; to: string },
): { from: string; to: string } {
  return { from: b.from < a.from ? b.from : a.from, to: b.to > a.to ? b.to : a.to };
}
