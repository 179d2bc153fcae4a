/** Names that no path can contain: clients resolve dots before they send, and `list/` is the list of the resource. */
const unnamable: ReadonlySet<string> = new Set([".", "..", "list"]);

/** Whether a name can be addressed in the path of its resource; other names are refused. */
export function isNamable(name: string): boolean {
  return !unnamable.has(name);
}

/**
 * Whether a name can be used wherever an id can: a name in the form of an id could be confused with another object's
 * id.
 */
export function canBeSlug(name: string): boolean {
  return isNamable(name) && !/^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i.test(name);
}
