/** The named members of a record, in this order. */
export function pick<T extends object, K extends keyof T>(record: T, ...names: readonly K[]): Pick<T, K> {
  return asPicked(Object.fromEntries(names.map((name) => [name, record[name]])));
}

/** It has the named members, each as it was. */
function asPicked<T, K extends keyof T>(members: object): Pick<T, K> {
  return members as Pick<T, K>;
}
