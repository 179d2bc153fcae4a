/**
 * Looks up an untrusted name in a table. Inherited names, such as `constructor`, are found only if the table lists
 * them.
 */
export function lookUp<V>(table: Readonly<Partial<Record<string, V>>>, name: string): V | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
