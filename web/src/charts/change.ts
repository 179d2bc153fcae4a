/** How a figure compares with that of the previous window. */
export type Change = { kind: "same" } | { kind: "new" } | { kind: "ratio"; ratio: number };

/** Undefined if either value is unknown. `ratio` is 0.1 for a rise of 10 % and -1 for a fall to 0. */
export function changeOf(now: number | null | undefined, before: number | null | undefined): Change | undefined {
  if (now === null || now === undefined || before === null || before === undefined) return undefined;
  if (now === before) return { kind: "same" };
  if (before === 0) return { kind: "new" };
  return { kind: "ratio", ratio: (now - before) / before };
}
