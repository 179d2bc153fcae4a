/** Returns the record without these members. */
export function omit<T extends object, K extends keyof T>(record: T, ...names: readonly K[]): Omit<T, K> {
  const rest: Partial<T> = { ...record };
  for (const name of names) delete rest[name];
  return asRest(rest);
}

/** Safe because only the named members were removed. */
function asRest<T, K extends keyof T>(rest: Partial<T>): Omit<T, K> {
  return rest as Omit<T, K>;
}
