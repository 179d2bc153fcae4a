/**
 * JSON that preserves all digits: a number that a double cannot represent keeps its source text, and JSON.stringify
 * writes it back. Browsers without `JSON.rawJSON` parse the nearest double.
 */
export type ExactNumber = { readonly rawJSON: string };

type RawJson = { rawJSON(text: string): ExactNumber; isRawJSON(value: unknown): boolean };
type Reviver = (this: unknown, key: string, value: unknown, context: { source?: string }) => unknown;

export function parseExactly(text: string): unknown {
  // A reviver is called for each value, so it is used only for text with long numbers.
  if (!longNumber.test(text) || !canKeep()) return JSON.parse(text) as unknown;
  const keep: Reviver = (_key, value, { source }) =>
    typeof value === "number" && source !== undefined && !isExact(value, source) ? rawJson().rawJSON(source) : value;
  return JSON.parse(text, keep as Parameters<typeof JSON.parse>[1]) as unknown;
}

export function isExactNumber(value: unknown): value is ExactNumber {
  return canKeep() && rawJson().isRawJSON(value);
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isExactNumber(value);
}

const longNumber = /(?:^|[\s:,[])-?[\d.]{16,}|\de[+-]?\d{3}/i;

function isExact(value: number, source: string): boolean {
  return Number.isInteger(value)
    ? Number.isSafeInteger(value) || digitsOf(String(value)) === digitsOf(source)
    : digitsOf(source).length <= 17;
}

const digitsOf = (text: string): string =>
  text
    .replace(/e.*$/i, "")
    .replace(/[-.]/g, "")
    .replace(/^0+|0+$/g, "");

const canKeep = (): boolean => typeof rawJson().rawJSON === "function";
/** TypeScript's types lack `JSON.rawJSON`. */
const rawJson = (): RawJson => JSON as unknown as RawJson;
