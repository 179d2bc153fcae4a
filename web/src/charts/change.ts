/** How a figure compares with the one of the window before. */
export type Change = { kind: "same" } | { kind: "new" } | { kind: "ratio"; ratio: number };

/** Undefined where one of them is unknown. `ratio` is 0.1 for a tenth more, and -1 where nothing is left. */
export function changeOf(now: number | null | undefined, before: number | null | undefined): Change | undefined {
  if (now === null || now === undefined || before === null || before === undefined) return undefined;
  if (now === before) return { kind: "same" };
  if (before === 0) return { kind: "new" };
  return { kind: "ratio", ratio: (now - before) / before };
}
