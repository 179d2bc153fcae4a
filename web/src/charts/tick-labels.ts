/**
 * Labels of an axis with as many decimals as the one that has most, among those of the same unit: `$0.010` beside `$0.012`.
 * Zero and what has no unit of its own stay as they are.
 */
export function alignDecimals(labels: readonly (string | null)[]): (string | null)[] {
  const parts = labels.map((label) => (label === null ? null : decimalLabel.exec(label)));
  const unitOf = ({ groups: { before = "", after = "" } = {} }: RegExpExecArray) => `${before} ${after}`;
  const most = new Map<string, number>();
  for (const part of parts) {
    if (part === null) continue;
    most.set(unitOf(part), Math.max(most.get(unitOf(part)) ?? 0, part.groups?.["fraction"]?.length ?? 0));
  }
  return labels.map((label, at) => {
    const part = parts[at];
    if (part === null || part === undefined || label === null) return label;
    const { before = "", whole = "", fraction = "", after = "" } = part.groups ?? {};
    const decimals = most.get(unitOf(part)) ?? 0;
    const isZero = Number(`${whole}.${fraction}`) === 0;
    return isZero || decimals === 0 ? label : `${before}${whole}.${fraction.padEnd(decimals, "0")}${after}`;
  });
}

const decimalLabel = /^(?<before>[^\d.]*)(?<whole>\d+)(?:\.(?<fraction>\d+))?(?<after>[^\d.]*)$/;
