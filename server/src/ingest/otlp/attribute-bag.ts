import { isRawNumber } from "../../lib/json.ts";
import type { NestedJson } from "../../validation/nested-json.ts";
import { Problem } from "../../validation/field-readers.ts";
import type { AttributeValue, Attributes } from "./export-request.ts";

const keptTrees = 32;

/**
 * The attributes of one span while it is being mapped. What is left at the end becomes metadata, and so does what was taken
 * and is found nowhere on the span then (remainder.ts): taking is no more than the claim to have understood. Only a value
 * that a field's own reader accepted is gone for good. Null and "" count as absent, and stay.
 */
export class AttributeBag {
  readonly #values: Map<string, AttributeValue>;
  readonly #taken: Array<[key: string, value: unknown]> = [];
  /** Conventions ask for the same ones. Texts are compared, as hashing long ones takes longer. */
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

  /** Whether any key was sent whose first segment (up to a `.` or `:`) is one of these. */
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

  /** The first of the keys that has a value; the others stay. */
  takeAny(...keys: readonly string[]): AttributeValue | undefined {
    for (const key of keys) {
      const value = this.take(key);
      if (value !== undefined) return value;
    }
    return undefined;
  }

  /** Text, or the digits of a number. Anything else stays. */
  takeText(...keys: readonly string[]): string | undefined {
    for (const key of keys) {
      const text = this.peekText(key);
      if (text === undefined) continue;
      this.drop(key);
      return text;
    }
    return undefined;
  }

  /** A value whose text is JSON of an object or a list, parsed; other text as it is. The first key that has one. */
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
    // Text that holds more than a request may is kept as text.
    const parsed = tree instanceof Problem ? value : tree;
    if (parsed !== value && this.#trees.length < keptTrees) this.#trees.push({ text: value, tree: parsed });
    return parsed;
  }

  /** Puts back, under its own key, what is left of a value that was taken apart; `taken` of it has found a place. */
  putBack(key: string, value: AttributeValue | undefined, taken: unknown): void {
    if (value === undefined) this.#values.delete(key);
    else this.#values.set(key, value);
    this.#taken.push([key, taken]);
  }

  /** Takes keys whose content is stored under another name already. */
  drop(...keys: readonly string[]): void {
    for (const key of keys) {
      const value = this.#values.get(key);
      if (!this.#values.delete(key) || value === undefined) continue;
      this.#taken.push([key, value]);
    }
  }

  /** Takes those of the keys that say no more than `value`. */
  dropEqual(keys: readonly string[], value: unknown): void {
    for (const key of keys) if (this.#values.get(key) === value) this.drop(key);
  }

  /** Removes keys for good: a reader of values of just this kind has read them, or what they say is of no use to anybody. */
  accept(...keys: readonly string[]): void {
    for (const key of keys) this.#values.delete(key);
  }

  /** The keys that are left under a prefix, which must hold its first segment whole. */
  keysWith(prefix: string): string[] {
    const keys = this.#families.get(familyOf(prefix)) ?? [];
    return keys.filter((key) => key.length > prefix.length && key.startsWith(prefix) && this.#values.has(key));
  }

  /** Everything under a prefix, by the rest of the key. */
  takePrefix(prefix: string): Map<string, AttributeValue> {
    const taken = new Map<string, AttributeValue>();
    for (const key of this.keysWith(prefix)) {
      taken.set(key.slice(prefix.length), this.#values.get(key) ?? null);
      this.drop(key);
    }
    return taken;
  }

  /** What was taken, for which it is to be shown that it has a place. */
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
