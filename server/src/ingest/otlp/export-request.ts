import type { RawNumber } from "../../lib/json.ts";

/**
 * The content of an OTLP export, in either encoding. Only what is used later is kept; everything else is skipped.
 *
 * 64-bit integers are numbers, or their digits (`RawNumber`) if a double cannot represent them. Bytes are base64 text.
 * Doubles that are not finite are text, see `doubleValue`. Objects have no prototype, so that `__proto__` is an
 * ordinary key.
 */
export type AttributeValue =
  | null
  | string
  | boolean
  | number
  | RawNumber
  | AttributeValue[]
  | { [key: string]: AttributeValue };

/** If a key is repeated, the last one wins. */
export type Attributes = Map<string, AttributeValue>;

/** Ids are lower-case hex, "" if absent, all zero or of a wrong length. Times are ns since 1970, 0 = absent. */
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

/** `malformed` counts items that could not be read at all; the others are complete. */
export type ExportRequest<T> = { groups: Array<ScopeItems<T>>; malformed: number };

/**
 * The only error that a decoder throws. `malformed`: the bytes are not an export; `too_large`: they contain more values
 * than allowed.
 */
export class OtlpDecodeError extends Error {
  readonly reason: "malformed" | "too_large";

  constructor(reason: "malformed" | "too_large", message: string) {
    super(message);
    this.name = "OtlpDecodeError";
    this.reason = reason;
  }
}

/** The remaining number of values that a request may contain. */
export type Budget = { spend(values?: number): void };

/**
 * The fixed cost of an item, or a group of them: a small body can contain millions of empty ones, and each takes time
 * and memory.
 */
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

/**
 * A double. If it is not finite, returns its text in OTLP/JSON ("NaN", "Infinity" or "-Infinity"), which field readers
 * ignore.
 */
export function doubleValue(value: number): number | string {
  return Number.isFinite(value) ? value : String(value);
}

/** Maximum nesting of lists and key-value lists in one attribute; deeper values read as null. */
export const valueDepthMax = 32;
