/**
 * The bytes of accepted rows: NDJSON, one `SpanRow` per line. Each line begins with its organization, or with the
 * resend mark (an earlier row may have the same key) and then its organization. So both can be read, and the mark can
 * be set, without parsing.
 */

/** Splits into lines, each with its line break. JSON text contains no raw line break. */
export function splitLines(payload: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let start = 0; start < payload.length;) {
    const end = payload.indexOf(0x0a, start);
    const next = end === -1 ? payload.length : end + 1;
    lines.push(payload.subarray(start, next));
    start = next;
  }
  return lines;
}

const resendMark = Buffer.from('{"is_resend":1,');
const organizationMember = Buffer.from('"organization_id":"');

const beginsWith = (bytes: Buffer, start: Buffer, at = 0): boolean =>
  bytes.subarray(at, at + start.length).equals(start);

/** Other lines of a damaged journal are left for the store to refuse. */
const isRow = (line: Buffer): boolean => line[0] === 0x7b && line[1] === 0x22;

/** Marks rows that the store may already have, as their first member; see `SpanBatch`. */
export function markResends(payload: Buffer): Buffer {
  return Buffer.concat(
    splitLines(payload).flatMap((line) =>
      isRow(line) && !beginsWith(line, resendMark) ? [resendMark, line.subarray(1)] : [line],
    ),
  );
}

/** A line without its line break and without the resend mark. */
export function unmarked(line: Buffer): Buffer {
  const whole = line.at(-1) === 0x0a ? line.subarray(0, -1) : line;
  return beginsWith(whole, resendMark) ? Buffer.concat([Buffer.from("{"), whole.subarray(resendMark.length)]) : whole;
}

/** The same for one line as text. */
export function markResend(line: string): string {
  return `{"is_resend":1,${line.slice(1)}`;
}

/** The organization of the first row; all rows of an entry have the same. Undefined if there is none. */
export function organizationOf(payload: Buffer): string | undefined {
  const at = beginsWith(payload, resendMark) ? resendMark.length : 1;
  if (!beginsWith(payload, organizationMember, at)) return undefined;
  const start = at + organizationMember.length;
  const end = payload.indexOf(0x22, start);
  return end === -1 ? undefined : payload.toString("utf8", start, end);
}
