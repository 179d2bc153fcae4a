/** Events of a stream on their way to the caller: those that follow each other in memory go on together. */
export class EventRun {
  readonly #send: (events: Buffer, hasContent: boolean) => void;
  #events: Buffer | undefined;
  #hasContent = false;

  constructor(send: (events: Buffer, hasContent: boolean) => void) {
    this.#send = send;
  }

  /** @param hasContent a caller could use something in it */
  add(raw: Buffer, hasContent: boolean): void {
    const events = this.#events;
    if (events !== undefined && raw.buffer === events.buffer && raw.byteOffset === events.byteOffset + events.length) {
      this.#events = Buffer.from(events.buffer, events.byteOffset, events.length + raw.length);
    } else {
      this.flush();
      this.#events = raw;
    }
    this.#hasContent ||= hasContent;
  }

  flush(): void {
    const [events, hasContent] = [this.#events, this.#hasContent];
    if (events === undefined) return;
    this.#events = undefined;
    this.#hasContent = false;
    this.#send(events, hasContent);
  }
}
