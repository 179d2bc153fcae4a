import { pino, type DestinationStream, type Logger } from "pino";
import { limits } from "../limits.ts";
import { createLineBuffer, type LineBuffer } from "./line-buffer.ts";

/** Standard output, lines together; whoever ends the process flushes it. */
export function openLogOutput(): LineBuffer {
  return createLineBuffer(pino.destination(1), { waitMs: limits.logLineWaitMs, maxChars: limits.logLineChars });
}

/**
 * JSON lines on standard output. Errors are logged by type, message and stack; bodies, headers and keys never reach
 * the logger, and these paths are a second door should one try.
 */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: {
      paths: ["authorization", "*.authorization", "password", "*.password", "api_key", "*.api_key"],
      remove: true,
    },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}
