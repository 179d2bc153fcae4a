/** What an entry of the audit log says that was sent. */
type Entry = { target: string | null; changes: Readonly<Record<string, unknown>> };

/** A member that was sent: `value` in words; `before` where an earlier entry about the same thing says it. */
export type ChangedMember = { name: string; value: string; before: string | undefined; isHidden: boolean };

/** @param earlier entries before it, the newest first, as far as they are at hand */
export function changedMembers({ target, changes }: Entry, earlier: readonly Entry[]): ChangedMember[] {
  return Object.entries(changes).map(([name, value]) => {
    const before = earlier.find(
      (other) => target !== null && other.target === target && Object.hasOwn(other.changes, name),
    );
    const was = before === undefined ? undefined : inWords(before.changes[name]);
    return { name, value: inWords(value), before: was, isHidden: value === null };
  });
}

/** The log keeps null of what may be secret. */
function inWords(value: unknown): string {
  if (value === null) return "not shown";
  if (typeof value === "string") return value === "" ? "empty" : value;
  return JSON.stringify(value) ?? "";
}
