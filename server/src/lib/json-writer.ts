/**
 * Writes one JSON object member by member, embedding ready JSON text unchanged: stored documents reach the caller
 * without being parsed and serialized again, and keep every digit.
 */
export class JsonObjectWriter {
  #text = "";

  /** `undefined` omits the member. */
  value(name: string, value: unknown): this {
    const text = JSON.stringify(value);
    return text === undefined ? this : this.raw(name, text);
  }

  /** `json` must be one valid JSON text. */
  raw(name: string, json: string): this {
    this.#text += `${this.#text === "" ? "" : ","}${JSON.stringify(name)}:${json}`;
    return this;
  }

  toString(): string {
    return `{${this.#text}}`;
  }
}
