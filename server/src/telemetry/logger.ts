import { pino, type DestinationStream, type Logger } from "pino";
import { telemetryLimits } from "./limits.ts";

/** Standard output. Lines are written together; whoever ends the process calls `flushSync`. */
export function openLogOutput() {
  return pino.destination({
    dest: 1,
    sync: true,
    minLength: telemetryLimits.logLineChars,
    periodicFlush: telemetryLimits.logLineWaitMs,
  });
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
