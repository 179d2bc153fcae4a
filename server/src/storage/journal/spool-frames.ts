import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { crc32 } from "node:zlib";
import { storageLimits } from "../limits.ts";

/**
 * The format of a record in a spool file: length and CRC-32 of the text, 4 bytes each, little-endian, then the text in
 * UTF-8. The checksum starts from a seed of its own, so that zeros and files of other programs contain no valid frame.
 */
const headBytes = 8;
const checksumSeed = 0x5350_4157;

/** Whether the frame of a text is sure to fit into this many bytes: UTF-8 needs at most three per UTF-16 unit. */
export function fitsFrame(text: string, bytes: number): boolean {
  return headBytes + text.length * 3 <= bytes;
}

/** @param scratch used if the frame fits into it, so that small frames allocate no memory */
export function encodeFrame(text: string, scratch: Buffer): Buffer {
  const into = fitsFrame(text, scratch.length) ? scratch : Buffer.allocUnsafe(headBytes + Buffer.byteLength(text));
  const length = into.write(text, headBytes);
  into.writeUInt32LE(length, 0);
  into.writeUInt32LE(crc32(into.subarray(headBytes, headBytes + length), checksumSeed), 4);
  return into.subarray(0, headBytes + length);
}

/** How the frames of a file end: at the end of the file, in the middle of a frame, or at bytes that are not a frame. */
export type FramesEnd = "complete" | "torn" | "damaged";

/** The texts of a file in order, up to the first incomplete frame. @throws if the file cannot be read */
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
    return "complete";
  } finally {
    closeSync(file);
  }
}
