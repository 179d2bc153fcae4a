/** Events of a stream on their way to the caller: those that follow each other in memory go on together. */
export class EventRun {
  readonly #send: (events: Buffer, hasContent: boolean) => void;
  #first: Buffer | undefined;
  /** Of all of them. */
  #length = 0;
  #hasContent = false;

  constructor(send: (events: Buffer, hasContent: boolean) => void) {
    this.#send = send;
  }

  /** @param hasContent a caller could use something in it */
  add(raw: Buffer, hasContent: boolean): void {
    const first = this.#first;
    if (first === undefined || raw.buffer !== first.buffer || raw.byteOffset !== first.byteOffset + this.#length) {
      this.flush();
      this.#first = raw;
    }
    this.#length += raw.length;
    this.#hasContent ||= hasContent;
  }

  flush(): void {
    const [first, length, hasContent] = [this.#first, this.#length, this.#hasContent];
    if (first === undefined) return;
    this.#first = undefined;
    this.#length = 0;
    this.#hasContent = false;
    this.#send(first.length === length ? first : Buffer.from(first.buffer, first.byteOffset, length), hasContent);
  }
}
