/**
 * A pattern for model names, in lower case: `*` stands for any characters, including none. Matching takes time
 * proportional to the product of both lengths at most: it is not a regular expression.
 */
export type ModelPattern = readonly string[];

const wildcard = "*";

export function readPattern(model: string): ModelPattern {
  return model.toLowerCase().split(wildcard);
}

export function wildcardsOf(model: string): number {
  return model.split(wildcard).length - 1;
}

/** @param name in lower case */
export function matchesPattern(pattern: ModelPattern, name: string): boolean {
  const first = pattern[0] ?? "";
  if (pattern.length < 2) return name === first;
  const last = pattern.at(-1) ?? "";
  if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last)) return false;
  const end = name.length - last.length;
  let at = first.length;
  // The earliest match of each part leaves the most room for the parts after it.
  for (const part of pattern.slice(1, -1)) {
    const found = name.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}
