/**
 * A set of texts in 1 MiB: added texts are always found; texts that were not added are rarely found, more often the
 * more were added.
 */
export class BloomFilter {
  readonly #bits = new Uint32Array(wordCount);

  add(text: string): void {
    for (const bit of bitsOf(text)) this.#bits[bit >>> 5] = (this.#bits[bit >>> 5] ?? 0) | (1 << (bit & 31));
  }

  has(text: string): boolean {
    return bitsOf(text).every((bit) => ((this.#bits[bit >>> 5] ?? 0) & (1 << (bit & 31))) !== 0);
  }
}

const wordCount = 2 ** 18;
const bitMask = wordCount * 32 - 1;

/** FNV-1a, and a second hash computed with it. */
function bitsOf(text: string): number[] {
  let [first, second] = [0x811c9dc5, 0x9e3779b9];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    first = Math.imul(first ^ code, 0x01000193);
    second = Math.imul(second ^ code, 0x85ebca6b) ^ (second >>> 15);
  }
  return [first, second, first + Math.imul(second, 3)].map((hash) => (hash >>> 3) & bitMask);
}
