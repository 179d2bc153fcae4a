import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { crc32 } from "node:zlib";
import { storageLimits } from "../limits.ts";

/**
 * How a record lies in a file of the spool: length and CRC-32 of the text, 4 bytes each, little-endian, and the text, UTF-8.
 * The checksum begins with a value of its own, so that zeroes and files of others hold no frame.
 */
const headBytes = 8;
const checksumSeed = 0x5350_4157;

/** Whether the frame of a text fits into so many bytes. */
export function fitsFrame(text: Buffer, bytes: number): boolean {
  return headBytes + text.length <= bytes;
}

/** @param scratch taken where the frame fits into it, so that small ones cost no memory of their own */
export function encodeFrame(text: Buffer, scratch: Buffer): Buffer {
  const size = headBytes + text.length;
  const frame = fitsFrame(text, scratch.length) ? scratch.subarray(0, size) : Buffer.allocUnsafe(size);
  frame.writeUInt32LE(text.length, 0);
  frame.writeUInt32LE(crc32(text, checksumSeed), 4);
  frame.set(text, headBytes);
  return frame;
}

/** How the frames of a file ended: with the file, in the middle of one, or before bytes that are none. */
export type FramesEnd = "whole" | "torn" | "damaged";

/** The texts of a file in their order, up to the first frame that is not whole. @throws where it cannot be read */
export function* readFrames(path: string): Generator<Buffer, FramesEnd> {
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    const head = Buffer.alloc(headBytes);
    for (let at = 0; at < size;) {
      // The kernel may have grown the file and not have written all of it when the power went.
      if (readSync(file, head, 0, headBytes, at) < headBytes || head.every((byte) => byte === 0)) return "torn";
      const length = head.readUInt32LE(0);
      if (length > storageLimits.spanBytes) return "damaged";
      if (at + headBytes + length > size) return "torn";
      const text = Buffer.allocUnsafe(length);
      readSync(file, text, 0, length, at + headBytes);
      if (crc32(text, checksumSeed) !== head.readUInt32LE(4)) return "damaged";
      yield text;
      at += headBytes + length;
    }
    return "whole";
  } finally {
    closeSync(file);
  }
}
