import type { ResultRow } from "../drivers/span-database.ts";

/**
 * An alias hides the column of its name, also from the expressions beside it, so figures get names that no column has.
 */
export const figureAlias = (name: string) => `figure_${name}`;

export function selectFigures(figures: Readonly<Record<string, string>>): string[] {
  return Object.entries(figures).map(([name, sql]) => `${sql} AS ${figureAlias(name)}`);
}

/** The named figures of a row as numbers: 64-bit integers come as text. */
export function figuresOf<Name extends string>(row: ResultRow, names: readonly Name[]): Record<Name, number> {
  return Object.fromEntries(names.map((name) => [name, Number(row[figureAlias(name)] ?? 0)])) as Record<Name, number>;
}
