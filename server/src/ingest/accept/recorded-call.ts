import type { Logger } from "pino";
import { wholeBody } from "../../domain/errors.ts";
import type { SpanRow } from "../../domain/span.ts";
import { isObject, parseKeepingDigits } from "../../lib/json.ts";
import type { SpanOrigin } from "../normalize/normalize.ts";
import type { RefusedRow, RowOutcome, SpanIntake } from "./accept.ts";
import { fitsSpan } from "./span-batch.ts";

type Body = Record<string, unknown>;

/** A finished call of the gateway, as the spool holds it until the intake has made a span of it. */
export type RecordedCall = {
  /** The span's body, as a client would send it. */
  body: Body;
  origin: SpanOrigin;
  /** 16 bytes (`newIdentity`), used if the identity cannot be derived from the body. */
  identity: Buffer;
  /** Nanoseconds since the epoch, in whole microseconds. Dates the version of the span, so that a repeated record is the same version. */
  receivedNs: bigint;
};

/**
 * JSON without line breaks, of at most the size of a span. Content that does not fit, or that nests too deep for JSON,
 * is left out.
 */
export function writeCall(call: RecordedCall): string {
  const without = (): string | undefined =>
    textOf({ ...call, body: withoutRefused(call.body, { errors: {}, code: "payload_too_large" }) });
  const text = textOf(call) ?? without() ?? textOf({ ...call, body: bareCall(call.body, { errors: {} }) });
  if (text === undefined) throw new Error("the record of a call is too large");
  return text;
}

function textOf({ body, origin, identity, receivedNs }: RecordedCall): string | undefined {
  const record = { received_ms: Number(receivedNs / 1000n) / 1000, identity: identity.toString("hex"), origin, body };
  try {
    const text = JSON.stringify(record);
    return fitsSpan(text) ? text : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Undefined for a text that is not the record of a call. */
export function readCall(text: string): RecordedCall | undefined {
  const value = parsed(text);
  if (!isObject(value)) return undefined;
  const { received_ms, identity, origin, body } = value;
  if (typeof received_ms !== "number" || typeof identity !== "string" || !isOrigin(origin) || !isObject(body)) {
    return undefined;
  }
  return {
    body,
    origin,
    identity: Buffer.from(identity, "hex"),
    receivedNs: BigInt(Math.round(received_ms * 1000)) * 1000n,
  };
}

function parsed(text: string): unknown {
  try {
    return parseKeepingDigits(text);
  } catch {
    return undefined;
  }
}

/** An origin with its organization is taken for a whole one: `writeCall` wrote the text, and its checksum was verified. */
function isOrigin(value: unknown): value is SpanOrigin {
  return isObject(value) && typeof value["organization_id"] === "string";
}

/**
 * Accepts finished calls of one organization, whatever they contain. Returns the rows of recalled calls, and how many
 * were refused even without their content, after an error log.
 *
 * @param isRecalled whether they may have been accepted before, by this process or an earlier one
 * @throws ServiceError `unavailable` if the journal cannot take them: pass them again, as recalled
 */
export type AcceptCalls = (
  calls: readonly RecordedCall[],
  options?: { isRecalled?: boolean },
) => Promise<{ rows: SpanRow[]; refused: number }>;

export function createAcceptCalls(deps: { intake: Pick<SpanIntake, "acceptCalls">; logger: Logger }): AcceptCalls {
  const { intake, logger } = deps;
  const onFault = (error: unknown): void =>
    logger.error({ err: error }, "the span of a gateway call could not be made");
  return (calls, { isRecalled = false } = {}) =>
    intake.acceptCalls(calls, { isRecalled, onFault }).then((outcomes) => {
      const refusals = outcomes.filter((outcome) => !outcome.ok);
      for (const { errors } of refusals) {
        logger.error({ fields: Object.keys(errors) }, "the span of a gateway call was refused");
      }
      const rows = outcomes.flatMap((outcome) => (outcome.ok ? (outcome.row ?? []) : []));
      return { rows, refused: refusals.length };
    });
}

/** The parts of a call's body that may be of any size. */
const content = ["prompt_messages", "completion_message", "completion_messages", "tools", "response_format"];

/** Adds a call's body as it is, else without what was refused, else without all that a span can lack. */
export function addReduced(body: Body, add: (body: Body) => RowOutcome): RowOutcome {
  const whole = add(body);
  if (whole.ok) return whole;
  const fitting = add(withoutRefused(body, whole));
  return fitting.ok ? fitting : add(bareCall(body, fitting));
}

/** A call's body without the fields that the intake refuses, and without content if it is too large or nests too deep. */
function withoutRefused(body: Body, { errors, code }: Pick<RefusedRow, "errors" | "code">): Body {
  const fields = Object.keys(errors).filter((name) => name !== wholeBody);
  const leftOut = code === "payload_too_large" || wholeBody in errors ? [...fields, ...content] : fields;
  const retained = Object.fromEntries(Object.entries(body).filter(([name]) => !leftOut.includes(name)));
  const warnings = Array.isArray(retained["warnings"]) ? (retained["warnings"] as unknown[]) : [];
  if ("usage" in retained) retained["usage"] = boundedCounts(retained["usage"]);
  return { ...retained, warnings: [...warnings, `left out, because the store cannot hold it: ${leftOut.join(", ")}`] };
}

/** Fields that identify the call's customer and determine its cost. */
const bareFields = new Set([
  "customer_identifier",
  "cost",
  "cache_hit",
  "usage_is_estimated",
  "log_type",
  "model",
  "provider_id",
  "start_time",
  "timestamp",
  "latency",
  "status_code",
  "usage",
]);

/** The least of a call's body that is worth a span. */
function bareCall(body: Body, { errors }: Pick<RefusedRow, "errors">): Body {
  const retained = Object.entries(body).filter(([name]) => bareFields.has(name) && !(name in errors));
  return Object.fromEntries(retained.map(([name, value]) => [name, name === "usage" ? boundedCounts(value) : value]));
}

const maxDepth = 4;
const maxValues = 500;
const maxChars = 100;

/**
 * A copy of an upstream's usage without values that nest too deep, are too long or too many for a span. The counts
 * stay: the call is billed by them.
 */
function boundedCounts(usage: unknown): unknown {
  let valuesLeft = maxValues;
  const copy = (value: unknown, depthLeft: number): unknown => {
    valuesLeft -= 1;
    if (valuesLeft < 0) return undefined;
    if (typeof value === "string") return value.length <= maxChars ? value : undefined;
    if (!Array.isArray(value) && !isObject(value)) return value;
    if (depthLeft === 0) return undefined;
    if (Array.isArray(value))
      return value.slice(0, maxValues).flatMap((item: unknown) => copy(item, depthLeft - 1) ?? []);
    // Plain counts come first, so that nested values cannot use up the limit.
    const members = Object.entries(value)
      .filter(([name]) => name.length <= maxChars)
      .toSorted(([, a], [, b]) => Number(typeof a === "object") - Number(typeof b === "object"));
    return Object.fromEntries(members.map(([name, member]) => [name, copy(member, depthLeft - 1)]));
  };
  return copy(usage, maxDepth);
}
