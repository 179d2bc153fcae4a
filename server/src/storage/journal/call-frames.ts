import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { crc32 } from "node:zlib";
import { limits } from "../../limits.ts";

/**
 * How a record lies in a file of the spool: length and CRC-32 of the text, 4 bytes each, little-endian, and the text, UTF-8.
 * The checksum begins with a value of its own, so that zeroes and files of others hold no frame.
 */
const headBytes = 8;
const checksumSeed = 0x5350_4157;

/** Whether the frame of a text surely fits into so many bytes: UTF-8 needs three for a UTF-16 unit at most. */
export function fitsFrame(text: string, bytes: number): boolean {
  return headBytes + text.length * 3 <= bytes;
}

/** @param scratch taken where the frame fits into it, so that small ones cost no memory of their own */
export function encodeFrame(text: string, scratch: Buffer): Buffer {
  const isSmall = fitsFrame(text, scratch.length);
  const buffer = isSmall ? scratch : Buffer.allocUnsafe(headBytes + Buffer.byteLength(text));
  const length = buffer.write(text, headBytes, "utf8");
  const frame = buffer.subarray(0, headBytes + length);
  frame.writeUInt32LE(length, 0);
  frame.writeUInt32LE(crc32(frame.subarray(headBytes), checksumSeed), 4);
  return frame;
}

/** How the frames of a file ended: with the file, in the middle of one, or before bytes that are none. */
export type FramesEnd = "whole" | "torn" | "damaged";

/** The texts of a file in their order, up to the first frame that is not whole. @throws where it cannot be read */
export function* readFrames(path: string): Generator<string, FramesEnd> {
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    const head = Buffer.alloc(headBytes);
    for (let at = 0; at < size;) {
      // The kernel may have grown the file and not have written all of it when the power went.
      if (readSync(file, head, 0, headBytes, at) < headBytes || head.every((byte) => byte === 0)) return "torn";
      const length = head.readUInt32LE(0);
      if (length > limits.spanBytes) return "damaged";
      if (at + headBytes + length > size) return "torn";
      const text = Buffer.allocUnsafe(length);
      readSync(file, text, 0, length, at + headBytes);
      if (crc32(text, checksumSeed) !== head.readUInt32LE(4)) return "damaged";
      yield text.toString("utf8");
      at += headBytes + length;
    }
    return "whole";
  } finally {
    closeSync(file);
  }
}
