import { readSync } from "node:fs";

/** Pages that a transaction freed. */
export type FreePages = { freedBy: number; pages: number };

/**
 * The unused pages of a database file, and the last transaction. LMDB keeps them in an internal tree that the library
 * does not expose, so this reads it from the file, in the layout of `mdb.c` of version 3 of the library on
 * little-endian machines. No transaction may be running.
 */
export function readFreePages(file: number, pageBytes: number): { lastTransaction: number; free: FreePages[] } {
  const read = (page: number, pages = 1): Buffer => {
    const bytes = Buffer.alloc(pages * pageBytes);
    readSync(file, bytes, 0, bytes.length, page * pageBytes);
    return bytes;
  };
  const metas = [read(0), read(1)].map((page) => page.subarray(pageHeaderBytes));
  const meta = metas.reduce((a, b) => (numberAt(b, metaAt.transaction) > numberAt(a, metaAt.transaction) ? b : a));
  const free: FreePages[] = [];
  const visit = (pageNumber: number): void => {
    const page = read(pageNumber);
    const body = page.subarray(pageHeaderBytes);
    const isBranch = (page.readUInt16LE(pageAt.flags) & branchFlag) !== 0;
    for (let at = 0; at < page.readUInt16LE(pageAt.nodesEnd); at += 2) {
      const node = body.subarray(body.readUInt16LE(at));
      if (isBranch) visit(node.readUIntLE(0, 6));
      else free.push({ freedBy: numberAt(node, nodeAt.key), pages: pagesIn(valueOf(node, read)) });
    }
  };
  if (meta.readUInt16LE(metaAt.freeDepth) > 0) visit(numberAt(meta, metaAt.freeRoot));
  return { lastTransaction: numberAt(meta, metaAt.transaction), free };
}

/** A value too long for the page of its key is in overflow pages. */
function valueOf(node: Buffer, read: (page: number, pages: number) => Buffer): Buffer {
  const value = node.subarray(nodeAt.key + node.readUInt16LE(nodeAt.keyBytes));
  if ((node.readUInt16LE(nodeAt.flags) & overflowFlag) === 0) return value;
  return read(numberAt(value, 0), numberAt(value, overflowAt.pages)).subarray(pageHeaderBytes);
}

/**
 * A count, then that many numbers: a page, or the negative length of a run followed by its first page, or 0 for none.
 */
function pagesIn(record: Buffer): number {
  let pages = 0;
  for (let i = 1; i <= numberAt(record, 0); i += 1) {
    const number = numberAt(record, i * 8);
    if (number === 0) continue;
    pages += Math.max(-number, 1);
    if (number < 0) i += 1;
  }
  return pages;
}

const numberAt = (bytes: Buffer, offset: number): number => Number(bytes.readBigInt64LE(offset));

const pageHeaderBytes = 24;
const pageAt = { flags: 18, nodesEnd: 20 };
const metaAt = { freeDepth: 30, freeRoot: 64, transaction: 128 };
const nodeAt = { flags: 4, keyBytes: 6, key: 8 };
const overflowAt = { pages: 16 };
const branchFlag = 1;
const overflowFlag = 1;
