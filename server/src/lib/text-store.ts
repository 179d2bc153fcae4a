import { freeBytes } from "./free-bytes.ts";

/**
 * Byte strings (`byte-string.ts`) in a few large blocks, numbered in the order in which they were added. In separate
 * buffers, very many small ones would cost more than their content.
 */
export class TextStore {
  readonly #blocks: Buffer[] = [];
  /** For each text: its block, and its start and end there. */
  readonly #places: number[] = [];
  #used = 0;
  #bytes = 0;

  /** The total of all texts. */
  get bytes(): number {
    return this.#bytes;
  }

  add(bytes: string): void {
    let block = this.#blocks.at(-1);
    if (block === undefined || bytes.length > block.length - this.#used) {
      block = Buffer.allocUnsafeSlow(Math.max(blockBytes, bytes.length));
      this.#blocks.push(block);
      this.#used = 0;
    }
    const end = this.#used + block.write(bytes, this.#used, "latin1");
    this.#places.push(this.#blocks.length - 1, this.#used, end);
    this.#bytes += end - this.#used;
    this.#used = end;
  }

  /**
   * Yields texts of the store, by number, with other bytes between them, in large pieces: few writes instead of very
   * many. The store is empty afterwards, even if not all pieces are consumed.
   */
  *pieces(order: Iterable<number | Buffer>, bytes: number): Generator<Buffer, void> {
    try {
      yield* this.#pieces(order, bytes);
    } finally {
      // Freed immediately rather than by the garbage collector: megabytes of each of several responses would remain
      // until then.
      for (const block of this.#blocks) freeBytes(block);
      this.#blocks.length = 0;
    }
  }

  *#pieces(order: Iterable<number | Buffer>, bytes: number): Generator<Buffer, void> {
    let left = bytes;
    let piece = Buffer.allocUnsafeSlow(Math.min(left, pieceBytes));
    let used = 0;
    for (const part of order) {
      const [source, start, end] = typeof part === "number" ? this.#at(part) : [part, 0, part.length];
      for (let from = start; from < end;) {
        const copied = source.copy(piece, used, from, end);
        from += copied;
        used += copied;
        if (used < piece.length) continue;
        yield piece;
        left -= used;
        if (left <= 0) return;
        piece = Buffer.allocUnsafeSlow(Math.min(left, pieceBytes));
        used = 0;
      }
    }
    if (left > used) throw new RangeError(`${left - used} of ${bytes} bytes are missing`);
  }

  #at(index: number): [source: Buffer, start: number, end: number] {
    const [block = -1, start = 0, end = 0] = this.#places.slice(index * 3, index * 3 + 3);
    const source = this.#blocks[block];
    if (source === undefined) throw new RangeError(`there is no text ${index}`);
    return [source, start, end];
  }
}

const blockBytes = 256 * 1024;
const pieceBytes = 1024 * 1024;
