/** Months, as the table is partitioned; a statement is built with it. */
export function partitionId(value: unknown): string {
  if (typeof value === "string" && /^\d{6}$/.test(value)) return value;
  throw new Error("a partition of the span table has another id than a month");
}
