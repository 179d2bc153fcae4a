import { hash, randomUUID } from "node:crypto";

/**
 * The remembered part of an accepted span: `timestampNs` and `version` of the row accepted last, and the first receipt.
 */
export type IdentityRecord = { timestampNs: bigint; version: bigint; firstReceivedNs: bigint };

/**
 * Determines which span a row is, and which of several versions of one span wins.
 *
 * With trace and span id (or an idempotency key) the identity is derived from them, so that a resend is the same span:
 * 16 bytes, the first 8 from the trace, so that a trace is contiguous in every index. Without them, it is random.
 *
 * A version is `rank << 61
 * receivedNs`: the fuller version wins in any order of arrival, and among equally full ones the last received replaces
 * the other entirely. Each stored row has its own version; the table keeps the highest.
 */
export function spanIdentity(parts: {
  organization_id: string;
  environment: string;
  trace: string;
  span: string;
}): Buffer {
  const scope = `${parts.organization_id}\u0000${parts.environment}\u0000${parts.trace}`;
  const bytes = Buffer.from(
    hash("sha256", scope, "hex").slice(0, 16) + hash("sha256", `${scope}\u0000${parts.span}`, "hex").slice(0, 16),
    "hex",
  );
  return asUuid8(bytes);
}

/** The common prefix of the identities of a trace. */
export function tracePrefix(scope: { organization_id: string; environment: string; trace: string }): Buffer {
  return spanIdentity({ ...scope, span: "" }).subarray(0, 8);
}

/** The entry in the identity memory for spans of a trace whose own identities are random. */
export function traceMark(scope: { organization_id: string; environment: string; trace: string }): Buffer {
  return Buffer.concat([tracePrefix(scope), Buffer.alloc(8)]);
}

/** A random identity: RFC 9562, version 4. */
export function newIdentity(): Buffer {
  const uuid = randomUUID();
  // Searching for the dashes would take longer than everything else.
  const hex = `${uuid.slice(0, 8)}${uuid.slice(9, 13)}${uuid.slice(14, 18)}${uuid.slice(19, 23)}${uuid.slice(24)}`;
  return Buffer.from(hex, "hex");
}

// RFC 9562: version 8 is for ids whose bits the application defines.
function asUuid8(bytes: Buffer): Buffer {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes;
}

/** Whether an identity is derived from what was sent: see `spanIdentity`. */
export function isDerived(identity: Buffer): boolean {
  return (identity[6] ?? 0) >> 4 === 8;
}

/** The same for an id as text. */
export function isDerivedId(uniqueId: string): boolean {
  return uniqueId.charAt(14) === "8";
}

export function formatUuid(bytes: Buffer): string {
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** How full a version of a span is: an outcome (output or error) weighs most, then its usage, then its end. */
export function completeness(span: { hasOutcome: boolean; hasUsage: boolean; hasEnded: boolean }): number {
  return (span.hasOutcome ? 4 : 0) + (span.hasUsage ? 2 : 0) + (span.hasEnded ? 1 : 0);
}

/** `rank` comes from `completeness`; `receivedNs` must rise from one accepted row to the next. */
export function spanVersion(rank: number, receivedNs: bigint): bigint {
  return (BigInt(rank) << 61n) | receivedNs;
}

const rankOf = (version: bigint): bigint => version >> 61n;

/** When the row of a version was received, in nanoseconds. */
export const receivedNsOf = (version: bigint): bigint => version & ((1n << 61n) - 1n);

/**
 * The version of a row that comes after `before`: among equally full ones the later must be the higher, even if the
 * system clock was set back between them.
 */
export function versionAfter(before: IdentityRecord | undefined, version: bigint): bigint {
  if (!before || rankOf(before.version) !== rankOf(version) || version > before.version) return version;
  return before.version + 1n;
}

export type Resend =
  | { kind: "first" }
  /** Another version with a higher rank was accepted before: this one is superseded already. */
  | { kind: "superseded" }
  /** `replaces` is the timestamp of the version that must be removed; undefined if the new row has the same key. */
  | { kind: "wins"; replaces: bigint | undefined };

/** Compares a new version of a span with the one accepted before. */
export function judgeResend(
  before: IdentityRecord | undefined,
  next: { timestampNs: bigint; version: bigint },
): Resend {
  if (!before) return { kind: "first" };
  if (rankOf(before.version) > rankOf(next.version)) return { kind: "superseded" };
  return { kind: "wins", replaces: before.timestampNs === next.timestampNs ? undefined : before.timestampNs };
}
