import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
  fstatSync,
  readSync,
} from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { storageLimits } from "../limits.ts";

/**
 * Records of finished calls until the journal has them, in files that are never flushed: written records survive a
 * crash of this process, not a power cut. Two files alternate: one takes new records while those of the other go to the
 * journal, and is emptied once they are there.
 */
export type CallSpool = {
  /**
   * Writes records synchronously. False for each record that the disk or the bound refuses: it exists in memory only.
   */
  append(texts: readonly string[]): boolean[];
  /**
   * Directs further records to the other file. The returned function empties the file that was written until now: call
   * it once the journal has all of its records, and before the next rotation.
   */
  rotate(): () => void;
  /** Files of an earlier process. */
  previous: readonly PreviousRecords[];
  bytes(): number;
  close(): void;
};

/** Records of an earlier process. The journal may already have some of them. */
export type PreviousRecords = {
  /** In order; ends early before an incomplete record. */
  texts(): Iterable<Buffer>;
  /**
   * Call it once the journal has all of them. Removes the file, or renames it if it is damaged.
   */
  discard(): void;
};

export type CallSpoolOptions = {
  path: string;
  /** Total of all files, except damaged ones. */
  maxBytes: number;
  /** Called for writes that fail, and for damaged files of an earlier process. */
  onProblem: (problem: { path: string; reason: string; error?: unknown }) => void;
};

/** Enough for the frames of a few dozen records of common size. */
const scratchBytes = 64 * 1024;

export function openCallSpool({ path, maxBytes, onProblem }: CallSpoolOptions): CallSpool {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const previous = renamePrevious(path).map((file) => openPrevious(file, onProblem));
  let [active, other] = [openFile(join(path, "0"), onProblem), openFile(join(path, "1"), onProblem)];
  const bytes = (): number => active.bytes() + other.bytes() + previous.reduce((sum, file) => sum + file.bytes(), 0);
  const scratch = Buffer.allocUnsafeSlow(scratchBytes);

  return {
    append(texts) {
      const outcomes: boolean[] = [];
      let [buffered, bufferedBytes] = [0, 0];
      const write = (): void => {
        if (buffered === 0) return;
        const isWritten = active.append(scratch.subarray(0, bufferedBytes));
        for (; buffered > 0; buffered -= 1) outcomes.push(isWritten);
        bufferedBytes = 0;
      };
      for (const text of texts) {
        if (!fitsFrame(text, scratch.length - bufferedBytes)) write();
        const frame = encodeFrame(text, scratch.subarray(bufferedBytes));
        const isWithin = bytes() + bufferedBytes + frame.length <= maxBytes;
        if (isWithin && frame.buffer === scratch.buffer) {
          buffered += 1;
          bufferedBytes += frame.length;
        } else {
          write();
          outcomes.push(isWithin && active.append(frame));
        }
      }
      write();
      return outcomes;
    },
    rotate() {
      [active, other] = [other, active];
      return other.empty;
    },
    previous,
    bytes,
    close() {
      active.close();
      other.close();
    },
  };
}

type SpoolFile = { append(frame: Buffer): boolean; empty: () => void; bytes(): number; close(): void };

/** Opened with the first record, so that a disk that refuses the file fails that record and not the start. */
function openFile(path: string, onProblem: CallSpoolOptions["onProblem"]): SpoolFile {
  let file: number | undefined;
  let end = 0;
  let isFailing = false;
  let isClosed = false;
  const failed = (error: unknown): false => {
    if (!isFailing) onProblem({ path, reason: "records of calls cannot be written to the spool", error });
    isFailing = true;
    return false;
  };
  return {
    append(frame) {
      if (isClosed) return false;
      try {
        file ??= openSync(path, "w", 0o600);
        // The next record overwrites a partial one.
        if (writeSync(file, frame, 0, frame.length, end) < frame.length) return failed(undefined);
      } catch (error) {
        return failed(error);
      }
      end += frame.length;
      isFailing = false;
      return true;
    },
    empty() {
      end = 0;
      try {
        if (file !== undefined) ftruncateSync(file, 0);
      } catch (error) {
        failed(error);
      }
    },
    bytes: () => end,
    close() {
      if (file !== undefined && !isClosed) closeSync(file);
      isClosed = true;
    },
  };
}

const previousName = /^left-(\d+)$/;

/** Renames the files of an earlier process, so that new records never mix with theirs. */
function renamePrevious(path: string): string[] {
  const earlier = readdirSync(path).filter((name) => previousName.test(name));
  let last = Math.max(0, ...earlier.map((name) => Number(previousName.exec(name)?.[1])));
  for (const name of ["0", "1"]) {
    const file = join(path, name);
    if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0) continue;
    renameSync(file, join(path, `left-${(last += 1)}`));
  }
  const numberOf = (name: string): number => Number(previousName.exec(name)?.[1] ?? 0);
  const names = readdirSync(path).filter((name) => previousName.test(name));
  return names.sort((a, b) => numberOf(a) - numberOf(b)).map((name) => join(path, name));
}

function openPrevious(path: string, onProblem: CallSpoolOptions["onProblem"]): PreviousRecords & { bytes(): number } {
  let bytes = statSync(path).size;
  let end: FramesEnd = "complete";
  return {
    *texts() {
      try {
        end = yield* readFrames(path);
      } catch (error) {
        end = "damaged";
        onProblem({ path, reason: "records of calls of an earlier process cannot be read", error });
      }
    },
    discard() {
      bytes = 0;
      try {
        if (end !== "damaged") return rmSync(path);
        const renamed = `${path.replace("left-", "damaged-")}-${Date.now()}`;
        renameSync(path, renamed);
        onProblem({ path: renamed, reason: "records of calls were damaged; the file was renamed" });
      } catch (error) {
        onProblem({ path, reason: "records of calls that are in the journal cannot be removed", error });
      }
      return undefined;
    },
    bytes: () => bytes,
  };
}

/**
 * The format of a record in a spool file: length and CRC-32 of the text, 4 bytes each, little-endian, then the text in
 * UTF-8. The checksum starts from a seed of its own, so that zeros and files of other programs contain no valid frame.
 */
const headBytes = 8;
const checksumSeed = 0x5350_4157;

/** Whether the frame of a text is sure to fit into this many bytes: UTF-8 needs at most three per UTF-16 unit. */
function fitsFrame(text: string, bytes: number): boolean {
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
type FramesEnd = "complete" | "torn" | "damaged";

/** The texts of a file in order, up to the first incomplete frame. @throws if the file cannot be read */
function* readFrames(path: string): Generator<Buffer, FramesEnd> {
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
