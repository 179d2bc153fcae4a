const none = Buffer.alloc(0);
/** Room for the first pieces; it doubles from there. */
const firstBytes = 512;
/** Shorter pieces are copied byte by byte: a call of the engine would take longer. */
const shortBytes = 48;

/**
 * Text that comes in many small pieces, some of them as bytes. Those stay bytes, outside of the heap, until somebody reads: each as a
 * string of its own would be an object that the collector has to move and to follow until the stream ends.
 */
export class GatheredText {
  #text = "";
  #bytes: Buffer<ArrayBuffer> = none;
  #length = 0;

  add(text: string): void {
    this.#text = this.read() + text;
  }

  /** Adds whole characters of UTF-8, as they stand in `bytes`. */
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

  /** The same when nothing more is expected: the memory is given back at once, which the collector would do minutes later. */
  readLast(): string {
    const text = this.read();
    if (this.#bytes !== none) this.#bytes.buffer.transfer(0);
    this.#bytes = none;
    return text;
  }

  #grow(needed: number): void {
    const bytes = Math.max(firstBytes, needed, 2 * this.#bytes.length);
    // Moved, so that what was before does not wait for the collector.
    this.#bytes =
      this.#bytes === none ? Buffer.allocUnsafeSlow(bytes) : Buffer.from(this.#bytes.buffer.transfer(bytes));
  }
}
