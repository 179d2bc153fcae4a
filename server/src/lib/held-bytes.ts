const none = Buffer.alloc(0);

/**
 * Bytes of a stream that wait for those that complete them. Their memory doubles as they grow, so that it costs the same for each
 * byte, however small the pieces are that they come in.
 */
export class HeldBytes {
  /** The first piece as it came; where more were added, memory of their own, of which there may be more than is held. */
  #bytes: Buffer = none;
  length = 0;

  add(bytes: Buffer): void {
    if (bytes.length === 0) return;
    if (this.length === 0) this.#bytes = bytes;
    else {
      const needed = this.length + bytes.length;
      if (needed > this.#bytes.length) this.#grow(Math.max(needed, 2 * this.length));
      bytes.copy(this.#bytes, this.length);
    }
    this.length += bytes.length;
  }

  /** What is held, and `bytes` after it; nothing is held from then on. Without a copy where nothing was. */
  takeWith(bytes: Buffer): Buffer {
    if (this.length === 0) return bytes;
    const needed = this.length + bytes.length;
    if (needed > this.#bytes.length) this.#grow(needed);
    bytes.copy(this.#bytes, this.length);
    const taken = this.#bytes.subarray(0, needed);
    this.#bytes = none;
    this.length = 0;
    return taken;
  }

  /** What is held, until more is added. */
  view(): Buffer {
    return this.#bytes.subarray(0, this.length);
  }

  #grow(bytes: number): void {
    const grown = Buffer.allocUnsafe(bytes);
    this.#bytes.copy(grown, 0, 0, this.length);
    this.#bytes = grown;
  }
}
