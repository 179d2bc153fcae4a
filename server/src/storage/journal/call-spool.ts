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
} from "node:fs";
import { join } from "node:path";
import { encodeFrame, fitsFrame, readFrames, type FramesEnd } from "./call-frames.ts";

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
   * it once the journal has all of its records, and before the next turn.
   */
  turn(): () => void;
  /** Files that an earlier process left. */
  left: readonly LeftRecords[];
  bytes(): number;
  close(): void;
};

/** Records of an earlier process. The journal may already have some of them. */
export type LeftRecords = {
  /** In order; ends early before a record that is not whole. */
  texts(): Iterable<Buffer>;
  /**
   * Call it once the journal has all of them. Removes the file, or sets it aside if it could not be read to its end.
   */
  forget(): void;
};

export type CallSpoolOptions = {
  path: string;
  /** Total of all files, except those set aside. */
  maxBytes: number;
  /** Called for writes that fail, and for damaged files of an earlier process. */
  onProblem: (problem: { path: string; reason: string; error?: unknown }) => void;
};

/** Enough for the frames of a few dozen records of common size. */
const scratchBytes = 64 * 1024;

export function openCallSpool({ path, maxBytes, onProblem }: CallSpoolOptions): CallSpool {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const left = setLeftAside(path).map((file) => openLeft(file, onProblem));
  let [active, other] = [openFile(join(path, "0"), onProblem), openFile(join(path, "1"), onProblem)];
  const bytes = (): number => active.bytes() + other.bytes() + left.reduce((sum, file) => sum + file.bytes(), 0);
  const scratch = Buffer.allocUnsafeSlow(scratchBytes);

  return {
    append(texts) {
      const outcomes: boolean[] = [];
      let [gathered, gatheredBytes] = [0, 0];
      const write = (): void => {
        if (gathered === 0) return;
        const isTaken = active.append(scratch.subarray(0, gatheredBytes));
        for (; gathered > 0; gathered -= 1) outcomes.push(isTaken);
        gatheredBytes = 0;
      };
      for (const text of texts) {
        if (!fitsFrame(text, scratch.length - gatheredBytes)) write();
        const frame = encodeFrame(text, scratch.subarray(gatheredBytes));
        const isWithin = bytes() + gatheredBytes + frame.length <= maxBytes;
        if (isWithin && frame.buffer === scratch.buffer) {
          gathered += 1;
          gatheredBytes += frame.length;
        } else {
          write();
          outcomes.push(isWithin && active.append(frame));
        }
      }
      write();
      return outcomes;
    },
    turn() {
      [active, other] = [other, active];
      return other.empty;
    },
    left,
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

const leftName = /^left-(\d+)$/;

/** Renames the files of an earlier process, so that new records never mix with theirs. */
function setLeftAside(path: string): string[] {
  const earlier = readdirSync(path).filter((name) => leftName.test(name));
  let last = Math.max(0, ...earlier.map((name) => Number(leftName.exec(name)?.[1])));
  for (const name of ["0", "1"]) {
    const file = join(path, name);
    if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0) continue;
    renameSync(file, join(path, `left-${(last += 1)}`));
  }
  const numberOf = (name: string): number => Number(leftName.exec(name)?.[1] ?? 0);
  const names = readdirSync(path).filter((name) => leftName.test(name));
  return names.sort((a, b) => numberOf(a) - numberOf(b)).map((name) => join(path, name));
}

function openLeft(path: string, onProblem: CallSpoolOptions["onProblem"]): LeftRecords & { bytes(): number } {
  let bytes = statSync(path).size;
  let end: FramesEnd = "whole";
  return {
    *texts() {
      try {
        end = yield* readFrames(path);
      } catch (error) {
        end = "damaged";
        onProblem({ path, reason: "records of calls that an earlier process left cannot be read", error });
      }
    },
    forget() {
      bytes = 0;
      try {
        if (end !== "damaged") return rmSync(path);
        const aside = `${path.replace("left-", "damaged-")}-${Date.now()}`;
        renameSync(path, aside);
        onProblem({ path: aside, reason: "records of calls were damaged; the file is set aside" });
      } catch (error) {
        onProblem({ path, reason: "records of calls that are in the journal cannot be removed", error });
      }
      return undefined;
    },
    bytes: () => bytes,
  };
}
