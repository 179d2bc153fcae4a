/** Checks that a partition id is a month before it becomes part of a statement. */
export function partitionId(value: unknown): string {
  if (typeof value === "string" && /^\d{6}$/.test(value)) return value;
  throw new Error("the id of a partition of the span table is not a month");
}
