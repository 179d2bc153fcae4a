/** Returns the record without these members. */
export function omit<T extends object, K extends keyof T>(record: T, ...names: readonly K[]): Omit<T, K> {
  const kept: Partial<T> = { ...record };
  for (const name of names) delete kept[name];
  return asRest(kept);
}

/** Safe because only the named members were removed. */
function asRest<T, K extends keyof T>(kept: Partial<T>): Omit<T, K> {
  return kept as Omit<T, K>;
}
