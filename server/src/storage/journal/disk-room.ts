import { closeSync, fstatSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { RootDatabase } from "lmdb";
import { limits } from "../../limits.ts";
import { pagesOf, statsOf } from "./database-pages.ts";

/**
 * Room in the file of a database, made before the database needs it.
 *
 * LMDB finds out that a disk is full when it has decided where to write; it then spoils memory of its own (a message longer
 * than its buffer), which ends the process sooner or later. So the file is kept longer than what is in use, by appending
 * zeros: these overwrite nothing, whatever the database writes meanwhile, and a disk that is full refuses them harmlessly.
 */
export type DiskRoom = {
  /** Whether a transaction that adds so many bytes will fit. Where it does, `done` gives back what the transaction did not use. */
  take(bytes: number): boolean;
  done(bytes: number): void;
  /** That the file can grow no more: then what was removed is the only room there is. */
  isExhausted(): boolean;
  close(): void;
};

export function openDiskRoom(root: RootDatabase, path: string): DiskRoom {
  const file = openSync(join(path, "data.mdb"), "a");
  const { pageSize } = statsOf(root);
  let underWayBytes = 0;
  let leftBytes = 0;
  let isExhausted = false;

  const unusedBytes = (): number => fstatSync(file).size - (statsOf(root).lastPageNumber + 1) * pageSize;
  /** Appends until so much is unused, for commits go on meanwhile. Of what a full disk takes in part, that stays. */
  const growTo = (bytes: number): number => {
    for (;;) {
      const unused = unusedBytes();
      if (unused >= bytes || !append()) return unused;
    }
  };
  const append = (): boolean => {
    try {
      return writeSync(file, zeros) > 0;
    } catch {
      return false;
    }
  };
  /** Half of what is free: pages go to waste between large values, and those just freed are not used at once. */
  const reusableBytes = (): number => {
    const stats = statsOf(root);
    const named = [...root.getKeys()].filter((name) => typeof name === "string" && name !== turnKey) as string[];
    const trees = [stats.root, stats.free, ...named.map((name) => statsOf(root.openDB({ name, encoding: "binary" })))];
    const live = trees.reduce((sum, tree) => sum + pagesOf(tree), metaPages);
    return ((stats.lastPageNumber + 1 - live) * pageSize) / 2;
  };

  return {
    take(bytes) {
      const needed = roomFor(bytes) + limits.journalSpareBytes;
      if (leftBytes < needed) leftBytes = growTo(underWayBytes + needed) - underWayBytes;
      isExhausted = leftBytes < needed;
      if (isExhausted && reusableBytes() < underWayBytes + roomFor(bytes)) return false;
      underWayBytes += roomFor(bytes);
      leftBytes -= roomFor(bytes);
      return true;
    },
    done: (bytes) => void (underWayBytes -= roomFor(bytes)),
    isExhausted: () => isExhausted,
    close: () => closeSync(file),
  };
}

/** A key of the root that is no name of a database. */
export const turnKey = "turn";

const metaPages = 2;
const zeros = Buffer.alloc(limits.journalGrowthBytes);

/** More than they may take: whole pages, and copies of those on the way to what changes. */
const roomFor = (bytes: number): number => Math.ceil(bytes * 1.1) + 65_536;
