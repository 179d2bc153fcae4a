import { inspect } from "node:util";

const redacted = "[redacted]";

/**
 * A string that must not reach a log: printing, inspecting or serializing it gives `[redacted]`; `reveal()` returns the
 * value.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return redacted;
  }

  toJSON(): string {
    return redacted;
  }

  [inspect.custom](): string {
    return redacted;
  }
}
