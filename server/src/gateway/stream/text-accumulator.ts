const none = Buffer.alloc(0);
/** The initial capacity; it doubles from there. */
const firstBytes = 512;
/** Shorter pieces are copied byte by byte: a native call would take longer. */
const shortBytes = 48;

/**
 * Text that arrives in many small pieces, some of them as bytes. Those stay bytes outside the heap until they are read:
 * as strings, each would be an object that the garbage collector has to move and trace until the stream ends.
 */
export class TextAccumulator {
  #text = "";
  #bytes: Buffer<ArrayBuffer> = none;
  #length = 0;

  add(text: string): void {
    this.#text = this.read() + text;
  }

  /** Adds complete UTF-8 characters from `bytes`. */
  addBytes(bytes: Buffer, from: number, to: number): void {
    const end = this.#length + to - from;
    if (end > this.#bytes.length) this.#grow(end);
    const into = this.#bytes;
    if (to - from > shortBytes) bytes.copy(into, this.#length, from, to);
    else for (let at = from, place = this.#length; at < to; at += 1, place += 1) into[place] = bytes[at] ?? 0;
    this.#length = end;
  }

  read(): string {
    if (this.#length > 0) this.#text += this.#bytes.toString("utf8", 0, this.#length);
    this.#length = 0;
    return this.#text;
  }

  /**
   * Like `read`, when no more text is expected: frees the memory now, which the garbage collector would do minutes
   * later.
   */
  readLast(): string {
    const text = this.read();
    if (this.#bytes !== none) this.#bytes.buffer.transfer(0);
    this.#bytes = none;
    return text;
  }

  #grow(needed: number): void {
    const bytes = Math.max(firstBytes, needed, 2 * this.#bytes.length);
    // Transfers the memory, so that the old buffer does not wait for the garbage collector.
    this.#bytes =
      this.#bytes === none ? Buffer.allocUnsafeSlow(bytes) : Buffer.from(this.#bytes.buffer.transfer(bytes));
  }
}
