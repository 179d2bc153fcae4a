const ellipsis = "…";

/**
 * Compares `actual` with `shown` of a document, where `…` stands for omitted content: as a member name for further members, as a list item
 * for further items, within a text for any text. Numbers may differ in their last digits, as sums of fractions do.
 *
 * Returns the first difference as a sentence, or undefined.
 */
export function differenceFromShown(shown: unknown, actual: unknown, path = "$"): string | undefined {
  if (Array.isArray(shown) && Array.isArray(actual)) return listDifference(shown, actual, path);
  if (isObject(shown) && isObject(actual)) return objectDifference(shown, actual, path);
  if (typeof shown === "string" && typeof actual === "string") {
    const matches = elidedText(shown).test(actual);
    return matches ? undefined : different(path, shown, actual);
  }
  if (typeof shown === "number" && typeof actual === "number") {
    return Math.abs(shown - actual) <= Math.abs(shown) * 1e-9 ? undefined : different(path, shown, actual);
  }
  return Object.is(shown, actual) ? undefined : different(path, shown, actual);
}

/** Text with `…` anywhere in it, over several lines. */
export function elidedText(shown: string): RegExp {
  const parts = shown.split(ellipsis).map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return new RegExp(`^${parts.join("[\\s\\S]*")}$`);
}

function listDifference(shown: unknown[], actual: unknown[], path: string): string | undefined {
  const isOpen = shown.at(-1) === ellipsis;
  const items = isOpen ? shown.slice(0, -1) : shown;
  if (isOpen ? actual.length < items.length : actual.length !== items.length) {
    return `${path} has ${actual.length} items, not ${items.length}${isOpen ? " or more" : ""}`;
  }
  return firstOf(items.map((item, index) => differenceFromShown(item, actual[index], `${path}[${index}]`)));
}

function objectDifference(
  shown: Record<string, unknown>,
  actual: Record<string, unknown>,
  path: string,
): string | undefined {
  const { [ellipsis]: isOpen, ...members } = shown;
  const extra = Object.keys(actual).find((name) => !(name in members));
  if (isOpen === undefined && extra !== undefined) return `${path} has a member ${extra} that is not shown`;
  return firstOf(
    Object.entries(members).map(([name, value]) => differenceFromShown(value, actual[name], `${path}.${name}`)),
  );
}

function firstOf(differences: Array<string | undefined>): string | undefined {
  return differences.find((difference) => difference !== undefined);
}

function different(path: string, shown: unknown, actual: unknown): string {
  return `${path} is ${JSON.stringify(actual)}, not ${JSON.stringify(shown)}`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
