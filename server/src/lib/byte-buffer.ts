const none = Buffer.alloc(0);

/**
 * Buffers incomplete bytes of a stream until the rest arrives. Capacity doubles as it grows, so that the cost per byte
 * is constant, however small the pieces are.
 */
export class ByteBuffer {
  /** The first piece itself; once more were added, an own buffer, which may be larger than the buffered bytes. */
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

  /** Returns the buffered bytes followed by `bytes`, and clears the buffer. Without a copy if nothing was buffered. */
  drainWith(bytes: Buffer): Buffer {
    if (this.length === 0) return bytes;
    const needed = this.length + bytes.length;
    if (needed > this.#bytes.length) this.#grow(needed);
    bytes.copy(this.#bytes, this.length);
    const taken = this.#bytes.subarray(0, needed);
    this.#bytes = none;
    this.length = 0;
    return taken;
  }

  /** A view of the buffered bytes, valid until more are added. */
  view(): Buffer {
    return this.#bytes.subarray(0, this.length);
  }

  #grow(bytes: number): void {
    const grown = Buffer.allocUnsafe(bytes);
    this.#bytes.copy(grown, 0, 0, this.length);
    this.#bytes = grown;
  }
}
