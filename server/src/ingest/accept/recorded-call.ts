import type { Logger } from "pino";
import type { SpanRow } from "../../domain/span.ts";
import { isObject, parseKeepingDigits } from "../../lib/json.ts";
import type { SpanOrigin } from "../normalize/normalize.ts";
import type { SpanIntake } from "./accept.ts";
import { bareCall, withoutRefused } from "./reduce-call.ts";
import { fitsSpan } from "./span-batch.ts";

/** A finished call of the gateway, as the spool holds it until the intake has made a span of it. */
export type RecordedCall = {
  /** The span's body, as a client would send it. */
  body: Record<string, unknown>;
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
