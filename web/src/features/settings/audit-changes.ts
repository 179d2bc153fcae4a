/** An entry of the audit log: its target and the values that were sent. */
type Entry = { target: string | null; changes: Readonly<Record<string, unknown>> };

/** A changed member: `value` as text; `before` if an earlier entry with the same target contains it. */
export type ChangedMember = { name: string; value: string; before: string | undefined; isHidden: boolean };

/** @param earlier the entries before it, newest first, as far as loaded */
export function changedMembers({ target, changes }: Entry, earlier: readonly Entry[]): ChangedMember[] {
  return Object.entries(changes).map(([name, value]) => {
    const before = earlier.find(
      (other) => target !== null && other.target === target && Object.hasOwn(other.changes, name),
    );
    const was = before === undefined ? undefined : inWords(before.changes[name]);
    return { name, value: inWords(value), before: was, isHidden: value === null };
  });
}

/** The log stores null instead of possible secrets. */
function inWords(value: unknown): string {
  if (value === null) return "not shown";
  if (typeof value === "string") return value === "" ? "empty" : value;
  return JSON.stringify(value) ?? "";
}
