/** Returns the named members of a record, in this order. */
export function pick<T extends object, K extends keyof T>(record: T, ...names: readonly K[]): Pick<T, K> {
  return asPicked(Object.fromEntries(names.map((name) => [name, record[name]])));
}

/** Safe because the object has exactly the named members, unchanged. */
function asPicked<T, K extends keyof T>(members: object): Pick<T, K> {
  return members as Pick<T, K>;
}
