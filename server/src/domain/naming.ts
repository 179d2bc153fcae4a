/** What no path can name: clients fold dots away before they ask, and `list/` is the list of its kind. */
const unnamable: ReadonlySet<string> = new Set([".", "..", "list"]);

/** Whether the path of its kind can be about it; nobody else may be called so. */
export function isNamable(name: string): boolean {
  return !unnamable.has(name);
}

/** Whether it can stand wherever an id can: what is called by the id of another would be taken for that, or take its place. */
export function canBeSlug(name: string): boolean {
  return isNamable(name) && !/^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i.test(name);
}
