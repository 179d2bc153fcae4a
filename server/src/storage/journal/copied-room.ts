import { statfsSync } from "node:fs";
import { storageLimits } from "../limits.ts";
import { pageBytes } from "./database-pages.ts";
import { roomFor, type DiskRoom } from "./disk-room.ts";

/**
 * The room of a database on a file system that copies on write: each changed page needs a new block, and the old one
 * becomes free only later. So free space on the disk counts, beyond a reserve. Transactions that reuse pages of the file
 * give back what they take: they may take a quarter of the reserve, removals half.
 */
export function openCopiedRoom(inFile: DiskRoom, freeBytes: () => number): DiskRoom {
  const reserveBytes = storageLimits.journalDiskReserveBytes;
  let underWayBytes = 0;
  const pagesBeyond = (bytes: number): number => Math.max(0, Math.floor((freeBytes() - bytes) / pageBytes));
  return {
    ...inFile,
    take(bytes) {
      if (freeBytes() - reserveBytes < underWayBytes + roomFor(bytes)) return false;
      underWayBytes += roomFor(bytes);
      return true;
    },
    done: (bytes) => void (underWayBytes -= roomFor(bytes)),
    endPages: () => pagesBeyond(reserveBytes / 2),
    canChange: (pages, { isRemoval }) => pagesBeyond(reserveBytes * (isRemoval ? 1 / 2 : 3 / 4)) >= pages,
  };
}

/** Free bytes of the disk of a path. */
export function freeBytesOf(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

export const copiesOnWrite = (path: string): boolean => copyingFileSystems.has(statfsSync(path).type);

/** `f_type` of Btrfs, ZFS and bcachefs, see `statfs(2)`. */
const copyingFileSystems = new Set([0x9123683e, 0x2fc12fc1, 0xca451a4e]);
