export type RetentionKind = "instance" | "forever" | "days";

/** The form's values for days, null (the server's setting) or 0 (unlimited). */
export function retentionText(days: number | null): { kind: RetentionKind; days: string } {
  if (days === null) return { kind: "instance", days: "90" };
  return days === 0 ? { kind: "forever", days: "90" } : { kind: "days", days: String(days) };
}

/** The inverse; undefined for an invalid number of days. */
export function retentionOf(kind: RetentionKind, days: string): number | null | undefined {
  if (kind === "instance") return null;
  if (kind === "forever") return 0;
  return /^[1-9]\d{0,5}$/.test(days.trim()) ? Number(days) : undefined;
}

/** Whether stored spans may be deleted: fewer days than before, or days instead of another kind of retention. */
export function deletesSpans(before: number | null, after: number | null | undefined): boolean {
  if (after === null || after === undefined || after === 0) return false;
  return before === null || before === 0 || after < before;
}
