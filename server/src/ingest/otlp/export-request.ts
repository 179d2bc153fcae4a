import type { RawNumber } from "../../lib/json.ts";

/**
 * What an OTLP export holds, whichever encoding it came in. Only what is read later is kept; everything else is skipped.
 *
 * 64-bit integers are numbers, or their digits (`RawNumber`) where a double cannot hold them. Bytes are base64 text.
 * Doubles that are not finite are text, see `doubleValue`. Objects have no prototype, so that `__proto__` is a key like any other.
 */
export type AttributeValue =
  | null
  | string
  | boolean
  | number
  | RawNumber
  | AttributeValue[]
  | { [key: string]: AttributeValue };

/** A repeated key: the last one wins. */
export type Attributes = Map<string, AttributeValue>;

/** Ids are lower-case hex, "" where they are absent, all zero or of another length. Times are ns since 1970, 0 = absent. */
export type OtlpSpan = {
  traceId: string;
  spanId: string;
  parentSpanId: string;
  traceState: string;
  name: string;
  /** 0 unspecified, 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  kind: number;
  startNs: bigint;
  endNs: bigint;
  attributes: Attributes;
  droppedAttributes: number;
  events: OtlpEvent[];
  links: OtlpLink[];
  /** 0 unset, 1 ok, 2 error. */
  status: { code: number; message: string };
};

export type OtlpEvent = { name: string; timeNs: bigint; attributes: Attributes };
export type OtlpLink = { traceId: string; spanId: string; attributes: Attributes };

export type OtlpLogRecord = {
  traceId: string;
  spanId: string;
  timeNs: bigint;
  /** 1 (TRACE) to 24 (FATAL), 0 = absent. */
  severity: number;
  eventName: string;
  body: AttributeValue;
  attributes: Attributes;
};

export type OtlpScope = { name: string; version: string; attributes: Attributes };

/** The items of one scope of one resource. */
export type ScopeItems<T> = { resource: Attributes; scope: OtlpScope; items: T[] };

/** `malformed` counts items that could not be read at all; the others are whole. */
export type ExportRequest<T> = { groups: Array<ScopeItems<T>>; malformed: number };

/** The only thing a decoder throws. `malformed`: these bytes are no export; `too_large`: they hold more than is read. */
export class OtlpDecodeError extends Error {
  readonly reason: "malformed" | "too_large";

  constructor(reason: "malformed" | "too_large", message: string) {
    super(message);
    this.name = "OtlpDecodeError";
    this.reason = reason;
  }
}

/** Counts down what a request may still hold. */
export type Budget = { spend(values?: number): void };

/** What an item, or a group of them, costs before it holds anything: millions of empty ones fit a small body, and each takes time and memory. */
export const itemCost = 16;

export function createBudget(max: number): Budget {
  let left = max;
  return {
    spend(values = 1) {
      left -= values;
      if (left < 0) throw new OtlpDecodeError("too_large", `The export holds more than ${max} values.`);
    },
  };
}

export function emptyObject(): { [key: string]: AttributeValue } {
  return Object.create(null) as { [key: string]: AttributeValue };
}

/** A double: one that is not finite is the text that OTLP's JSON writes for it, "NaN", "Infinity" or "-Infinity", which no field reads. */
export function doubleValue(value: number): number | string {
  return Number.isFinite(value) ? value : String(value);
}

/** Levels of lists and key-value lists in one attribute; what lies deeper reads as null. */
export const valueDepthMax = 32;
