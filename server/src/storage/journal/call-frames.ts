import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { crc32 } from "node:zlib";
import { storageLimits } from "../limits.ts";

/**
 * The format of a record in a spool file: length and CRC-32 of the text, 4 bytes each, little-endian, then the text in
 * UTF-8. The checksum starts from a seed of its own, so that zeros and files of other programs contain no valid frame.
 */
const headBytes = 8;
const checksumSeed = 0x5350_4157;

/** Whether the frame of a text fits into this many bytes. */
export function fitsFrame(text: Buffer, bytes: number): boolean {
  return headBytes + text.length <= bytes;
}

/** @param scratch used if the frame fits into it, so that small frames allocate no memory */
export function encodeFrame(text: Buffer, scratch: Buffer): Buffer {
  const size = headBytes + text.length;
  const frame = fitsFrame(text, scratch.length) ? scratch.subarray(0, size) : Buffer.allocUnsafe(size);
  frame.writeUInt32LE(text.length, 0);
  frame.writeUInt32LE(crc32(text, checksumSeed), 4);
  frame.set(text, headBytes);
  return frame;
}

/** How the frames of a file end: at the end of the file, in the middle of a frame, or at bytes that are not a frame. */
export type FramesEnd = "whole" | "torn" | "damaged";

/** The texts of a file in order, up to the first frame that is not whole. @throws if the file cannot be read */
export function* readFrames(path: string): Generator<Buffer, FramesEnd> {
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    const head = Buffer.alloc(headBytes);
    for (let at = 0; at < size;) {
      // After a power cut the file may be longer than the data that the kernel wrote to it.
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
