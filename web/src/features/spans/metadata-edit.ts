/** A value as it is typed: text as it is, anything else as JSON. Text that would read as JSON has quotes. */
export function typedValue(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value) ?? "";
  return readTyped(value) === value ? value : JSON.stringify(value);
}

/** The inverse: what is JSON is what it says, everything else is text. */
export function readTyped(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** What is wrong with a key that is new; undefined where nothing is. */
export function keyProblem(key: string, taken: readonly string[]): string | undefined {
  if (key === "") return "A key is needed.";
  if (key.startsWith("_")) return "Keys that begin with _ are reserved: they are not shown.";
  return taken.includes(key) ? "There is such a key already." : undefined;
}
