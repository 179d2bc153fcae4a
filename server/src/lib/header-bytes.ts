/**
 * Finds the parts of HTTP heads in their bytes. Everything goes byte by byte, as the parts are short: a native search
 * costs more to start.
 */

const [tab, lf, cr, space] = [0x09, 0x0a, 0x0d, 0x20];

/** Returns the index of the next such byte, or `end`. */
export function findByte(bytes: Buffer, byte: number, at: number, end: number): number {
  while (at < end && bytes[at] !== byte) at += 1;
  return at;
}

/** Returns where the first blank line begins, including the end of the line before it, or -1. */
export function findHeadEnd(bytes: Buffer): number {
  const { length } = bytes;
  let last = 3;
  while (last < length) {
    const byte = bytes[last];
    if (byte === lf) {
      if (bytes[last - 1] === cr && bytes[last - 2] === lf && bytes[last - 3] === cr) return last - 3;
      last += 2;
    } else last += byte === cr ? 1 : 4;
  }
  return -1;
}

/** Whether `bytes` and `start` are equal up to the length of the shorter one. */
export function startsAlike(bytes: Buffer, start: Buffer): boolean {
  const length = Math.min(bytes.length, start.length);
  for (let at = 0; at < length; at += 1) if (bytes[at] !== start[at]) return false;
  return true;
}

/** Whether the byte is a space or tab, the whitespace allowed around a field value (RFC 9110 §5.6.3, OWS). */
export function isBlank(byte: number | undefined): boolean {
  return byte === space || byte === tab;
}
