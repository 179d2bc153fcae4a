/** The editable form of a value: text unchanged, anything else as JSON. Text that would parse as JSON is quoted. */
export function typedValue(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value) ?? "";
  return readTyped(value) === value ? value : JSON.stringify(value);
}

/** The inverse: valid JSON is parsed, everything else is text. */
export function readTyped(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** The problem of a new key; undefined if it is valid. */
export function keyProblem(key: string, taken: readonly string[]): string | undefined {
  if (key === "") return "A key is needed.";
  if (key.startsWith("_")) return "Keys that begin with _ are reserved: they are not shown.";
  return taken.includes(key) ? "There is such a key already." : undefined;
}
