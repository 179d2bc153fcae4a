import { isRawNumber } from "../../lib/json.ts";
import { Problem, type NestedJson } from "../../validation/field-readers.ts";
import type { AttributeValue, Attributes } from "./export-request.ts";

const cachedTrees = 32;

/**
 * The attributes of one span while it is being mapped. Attributes left at the end become metadata, and so do taken ones
 * whose content is found nowhere on the span (remainder.ts): taking only means that a convention recognized the
 * attribute. Only a value that a field's own reader accepted is removed for good. Null and "" count as absent, and are
 * not taken.
 */
export class AttributeBag {
  readonly #values: Map<string, AttributeValue>;
  readonly #taken: Array<[key: string, value: unknown]> = [];
  /** Several conventions read the same attributes. Texts are compared directly, because hashing long ones is slower. */
  readonly #trees: Array<{ text: string; tree: unknown }> = [];
  readonly #nested: NestedJson;
  readonly #families = new Map<string, string[]>();

  constructor(attributes: Attributes, nested: NestedJson) {
    this.#values = new Map(attributes);
    this.#nested = nested;
    for (const key of attributes.keys()) {
      const family = familyOf(key);
      const keys = this.#families.get(family);
      if (keys) keys.push(key);
      else this.#families.set(family, [key]);
    }
  }

  /** Whether a key was sent whose first segment (up to a `.` or `:`) is one of these. */
  hasFamily(...families: readonly string[]): boolean {
    return families.some((family) => this.#families.has(family));
  }

  peek(key: string): AttributeValue | undefined {
    const value = this.#values.get(key);
    return value === null || value === "" ? undefined : value;
  }

  peekText(key: string): string | undefined {
    return asText(this.peek(key));
  }

  has(key: string): boolean {
    return this.peek(key) !== undefined;
  }

  take(key: string): AttributeValue | undefined {
    const value = this.peek(key);
    if (value !== undefined) this.drop(key);
    return value;
  }

  /** Takes the first of the keys that has a value; the others stay. */
  takeAny(...keys: readonly string[]): AttributeValue | undefined {
    for (const key of keys) {
      const value = this.take(key);
      if (value !== undefined) return value;
    }
    return undefined;
  }

  /** Takes text, or the digits of a number. Other values stay. */
  takeText(...keys: readonly string[]): string | undefined {
    for (const key of keys) {
      const text = this.peekText(key);
      if (text === undefined) continue;
      this.drop(key);
      return text;
    }
    return undefined;
  }

  /**
   * Takes the first key with a value. Text that is JSON of an object or a list is parsed; other text is returned
   * unchanged.
   */
  takeTree(...keys: readonly string[]): unknown {
    return this.parsed(this.takeAny(...keys));
  }

  peekTree(key: string): unknown {
    return this.parsed(this.peek(key));
  }

  parsed(value: unknown): unknown {
    if (typeof value !== "string") return value;
    const known = this.#trees.find(({ text }) => text === value);
    if (known !== undefined) return known.tree;
    const tree = this.#nested.read(value);
    // Text that exceeds the limits of a request is kept as text.
    const parsed = tree instanceof Problem ? value : tree;
    if (parsed !== value && this.#trees.length < cachedTrees) this.#trees.push({ text: value, tree: parsed });
    return parsed;
  }

  /** Puts the unused part of a taken value back under its key; `taken` is the part that was used. */
  restore(key: string, value: AttributeValue | undefined, taken: unknown): void {
    if (value === undefined) this.#values.delete(key);
    else this.#values.set(key, value);
    this.#taken.push([key, taken]);
  }

  /** Takes keys whose content is already stored under another name. */
  drop(...keys: readonly string[]): void {
    for (const key of keys) {
      const value = this.#values.get(key);
      if (!this.#values.delete(key) || value === undefined) continue;
      this.#taken.push([key, value]);
    }
  }

  /** Takes those of the keys whose value equals `value`. */
  dropEqual(keys: readonly string[], value: unknown): void {
    for (const key of keys) if (this.#values.get(key) === value) this.drop(key);
  }

  /** Removes keys for good: a reader of exactly this kind of value has read them, or they are useless. */
  accept(...keys: readonly string[]): void {
    for (const key of keys) this.#values.delete(key);
  }

  /** The remaining keys under a prefix. The prefix must contain the whole first segment. */
  keysWith(prefix: string): string[] {
    const keys = this.#families.get(familyOf(prefix)) ?? [];
    return keys.filter((key) => key.length > prefix.length && key.startsWith(prefix) && this.#values.has(key));
  }

  /** Takes everything under a prefix, by the remainder of the key. */
  takePrefix(prefix: string): Map<string, AttributeValue> {
    const taken = new Map<string, AttributeValue>();
    for (const key of this.keysWith(prefix)) {
      taken.set(key.slice(prefix.length), this.#values.get(key) ?? null);
      this.drop(key);
    }
    return taken;
  }

  /** What was taken; it still has to be found in a field or in metadata. */
  taken(): ReadonlyArray<[key: string, value: unknown]> {
    return this.#taken;
  }

  rest(): IterableIterator<[string, AttributeValue]> {
    return this.#values.entries();
  }
}

export function asText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "number") return String(value);
  return isRawNumber(value) ? value.rawJSON : undefined;
}

function familyOf(key: string): string {
  const dot = key.indexOf(".");
  const colon = key.indexOf(":");
  const end = colon !== -1 && (dot === -1 || colon < dot) ? colon : dot;
  return end === -1 ? key : key.slice(0, end);
}
