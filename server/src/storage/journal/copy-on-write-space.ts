import { statfsSync } from "node:fs";
import { storageLimits } from "../limits.ts";
import { bytesToReserve, pageBytes, type DiskSpace } from "./disk-space.ts";

/**
 * The space of a database on a copy-on-write file system: each changed page needs a new block, and the old one becomes
 * free only later. So free space on the disk counts, beyond a reserve. Transactions that reuse pages of the file release
 * as much as they allocate: they may use a quarter of the reserve, removals half.
 */
export function openCopyOnWriteSpace(fileSpace: DiskSpace, freeBytes: () => number): DiskSpace {
  const reserveBytes = storageLimits.journalDiskReserveBytes;
  let inFlightBytes = 0;
  const freePagesBeyond = (bytes: number): number => Math.max(0, Math.floor((freeBytes() - bytes) / pageBytes));
  return {
    ...fileSpace,
    reserve(bytes) {
      if (freeBytes() - reserveBytes < inFlightBytes + bytesToReserve(bytes)) return false;
      inFlightBytes += bytesToReserve(bytes);
      return true;
    },
    release: (bytes) => void (inFlightBytes -= bytesToReserve(bytes)),
    tailPages: () => freePagesBeyond(reserveBytes / 2),
    canRewrite: (pages, { isRemoval }) => freePagesBeyond(reserveBytes * (isRemoval ? 1 / 2 : 3 / 4)) >= pages,
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
