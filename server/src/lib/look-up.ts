/** What a table has under a name from outside: names that every object has, such as `constructor`, are not in it unless it lists them. */
export function lookUp<V>(table: Readonly<Partial<Record<string, V>>>, name: string): V | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
