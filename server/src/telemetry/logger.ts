import { pino, type DestinationStream, type Logger } from "pino";
import { bySecond } from "../lib/time.ts";
import { telemetryLimits } from "./limits.ts";

/** Standard output. Lines are buffered; the code that ends the process calls `flushSync`. */
export function openLogOutput() {
  return pino.destination({
    dest: 1,
    sync: true,
    minLength: telemetryLimits.logLineChars,
    periodicFlush: telemetryLimits.logLineWaitMs,
  });
}

const isoSecond = bySecond((ms) => new Date(ms).toISOString().slice(0, 20));

/** The time of a log line, as a JSON member. */
function isoField(): string {
  const ms = Date.now();
  return `,"time":"${isoSecond(ms)}${String(ms % 1000).padStart(3, "0")}Z"`;
}

/**
 * JSON lines on standard output. Errors are logged by type, message and stack; bodies, headers and keys must never be
 * passed to the logger, and the redacted paths are a second safeguard.
 */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: isoField,
    redact: {
      paths: ["authorization", "*.authorization", "password", "*.password", "api_key", "*.api_key"],
      remove: true,
    },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}
