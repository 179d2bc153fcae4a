/** Merges stream events that are adjacent in memory, so that they are forwarded together. */
export class EventRun {
  readonly #send: (events: Buffer, hasContent: boolean) => void;
  #first: Buffer | undefined;
  /** The total length of the merged events. */
  #length = 0;
  #hasContent = false;

  constructor(send: (events: Buffer, hasContent: boolean) => void) {
    this.#send = send;
  }

  /** @param hasContent the event contains something that a caller could use */
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
