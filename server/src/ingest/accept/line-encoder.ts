/** A text and the pieces it is made of. Reading `whole` makes the engine copy it into one flat string first. */
export type PiecedText = { whole: string; pieces: readonly string[] };

/** Texts as UTF-8, one after the other, in a buffer that contains nothing else. */
export type EncodedLines = { bytes: Buffer; lines: Buffer[] };

/**
 * Encodes lines into a scratch buffer while they are sure to fit. Measuring their UTF-8 length first would read each
 * line twice more.
 * @param scratchBytes size of the scratch buffer, which is reused; lines beyond it are measured
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
