import type { DestinationStream } from "pino";

/** Where log lines go: as they come, or many at a time. */
export type LineBuffer = DestinationStream & {
  /** Writes what waits, now. */
  flushSync(): void;
};

/** pino's numbers; from here on a line may be the last one. */
const errorLevel = 50;

/**
 * Writes lines together: a system call for each would cost a busy server more than anything else it logs. A line waits
 * `waitMs` at most; an error, and whatever stands before it, not at all.
 */
export function createLineBuffer(
  sink: DestinationStream,
  { waitMs, maxChars }: { waitMs: number; maxChars: number },
): LineBuffer {
  let waiting = "";
  let timer: NodeJS.Timeout | undefined;
  const flushSync = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (waiting === "") return;
    const lines = waiting;
    waiting = "";
    sink.write(lines);
  };
  const buffer = {
    // pino sets these on a stream that asks for them.
    [Symbol.for("pino.metadata")]: true,
    lastLevel: 0,
    write(line: string): void {
      waiting += line;
      if (buffer.lastLevel >= errorLevel || waiting.length >= maxChars) flushSync();
      else timer ??= setTimeout(flushSync, waitMs).unref();
    },
    flushSync,
  };
  return buffer;
}
