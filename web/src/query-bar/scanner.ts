/** A range of the text: from its first character up to, not including, `to`. */
export type Range = { from: number; to: number };

/** `text` is the value without quotation marks and escapes. */
export type ScannedValue = Range & { text: string; isQuoted?: true; isOpen?: true };

const blank = /\s/;
const wordEnd = /[\s":=<>!~*^$,]/;
const families = /^(?:metadata|scores?)(?:__|\.)$/;

/** A cursor over the text of a query. */
export class Scanner {
  at = 0;
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** Returns whether any text follows. */
  skipBlanks(): boolean {
    while (this.at < this.text.length && blank.test(this.peek())) this.at += 1;
    return this.at < this.text.length;
  }

  peek(): string {
    return this.text.charAt(this.at);
  }

  take(literal: string): boolean {
    if (!this.text.startsWith(literal, this.at)) return false;
    this.at += literal.length;
    return true;
  }

  untilBlank(): string {
    return this.#while((char) => !blank.test(char));
  }

  /**
   * A field name up to the first character that cannot be part of it; the key of metadata and scores may be quoted:
   * `metadata."a b"`.
   */
  fieldWord(): string {
    const word = this.#while((char) => !wordEnd.test(char));
    if (this.peek() !== '"' || !families.test(word)) return word;
    const start = this.at;
    const key = this.quoted();
    if (key.isOpen !== true) return word + key.text;
    this.at = start;
    return word;
  }

  /** Values separated by commas, up to a blank. An empty one has an empty range. */
  values(): ScannedValue[] {
    const values = [this.#value()];
    while (this.take(",")) values.push(this.#value());
    return values;
  }

  #value(): ScannedValue {
    if (this.peek() === '"') {
      const value = this.quoted();
      const rest = this.#while((char) => !blank.test(char) && char !== ",");
      return rest === "" ? value : { ...value, text: this.text.slice(value.from, this.at), to: this.at };
    }
    const from = this.at;
    const text = this.#while((char) => !blank.test(char) && char !== ",");
    return { from, to: this.at, text };
  }

  /** A string with JSON escapes. Line breaks and unknown escapes in it are taken literally. */
  quoted(): ScannedValue {
    const from = this.at;
    let end = from + 1;
    while (end < this.text.length && this.text.charAt(end) !== '"') end += this.text.charAt(end) === "\\" ? 2 : 1;
    const isOpen = end >= this.text.length;
    this.at = Math.min(end + 1, this.text.length);
    const inner = this.text.slice(from + 1, isOpen ? this.text.length : end);
    return { from, to: this.at, text: unescaped(inner), isQuoted: true, ...(isOpen && { isOpen: true as const }) };
  }

  #while(holds: (char: string) => boolean): string {
    const from = this.at;
    while (this.at < this.text.length && holds(this.peek())) this.at += 1;
    return this.text.slice(from, this.at);
  }
}

const escapes: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  b: "\b",
  f: "\f",
  '"': '"',
  "\\": "\\",
  "/": "/",
};

function unescaped(text: string): string {
  return text.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/gs, (whole, hex?: string, char?: string) =>
    hex === undefined ? (escapes[char ?? ""] ?? whole) : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
