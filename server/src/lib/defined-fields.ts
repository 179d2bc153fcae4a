type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** The record without its undefined members, for receivers that distinguish "absent" from "set". */
export function definedFields<T extends object>(record: T): Defined<T> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as Defined<T>;
}
