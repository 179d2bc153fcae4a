/** A text, and what it was put together from: whoever reads the whole has the engine copy it into one piece first. */
export type PiecedText = { whole: string; pieces: readonly string[] };

/** Texts as UTF-8, one after the other, in a buffer that holds nothing else. */
export type EncodedLines = { bytes: Buffer; lines: Buffer[] };

/**
 * Encodes lines by way of a buffer that surely holds them, as far as it does: to know how long they are as UTF-8 beforehand,
 * each would be read twice more.
 * @param scratchBytes of the buffer, which is kept; lines beyond it are measured
 */
export function createLineEncoder(scratchBytes: number): (texts: readonly PiecedText[]) => EncodedLines {
  const scratch = Buffer.allocUnsafeSlow(scratchBytes);
  return (texts) => {
    const ends: number[] = [];
    let end = 0;
    for (const { whole, pieces } of texts) {
      // UTF-8 needs at most three bytes per UTF-16 unit.
      if (whole.length * 3 > scratch.length - end) break;
      for (const piece of pieces) end += scratch.write(piece, end);
      ends.push(end);
    }
    const left = texts.slice(ends.length);
    const bytes = Buffer.allocUnsafeSlow(left.reduce((sum, { whole }) => sum + Buffer.byteLength(whole), end));
    scratch.copy(bytes, 0, 0, end);
    for (const { whole } of left) {
      end += bytes.write(whole, end);
      ends.push(end);
    }
    return { bytes, lines: ends.map((lineEnd, index) => bytes.subarray(ends[index - 1] ?? 0, lineEnd)) };
  };
}
