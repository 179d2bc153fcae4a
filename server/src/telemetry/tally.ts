import { Counter, type Registry } from "prom-client";

/**
 * A counter of what happens with every request. The library's own looks its labels up as text each time, which costs a
 * microsecond; this one counts in plain numbers and hands them over when somebody reads.
 */
export type Tally<Label extends string> = {
  /** Adds to the series with these labels; they are few and the program's own. */
  add(labels: Readonly<Record<Label, string>>, count?: number): void;
};

/** Label values lead from one to the next; at the end of the way is what was counted since the last reading. */
type Branch = { children: Map<string, Branch>; count: number };

export function createTally<const Label extends string>(
  registry: Registry,
  { labelNames, ...options }: { name: string; help: string; labelNames: readonly Label[] },
): Tally<Label> {
  const root: Branch = { children: new Map(), count: 0 };
  const series: Array<{ labels: Record<Label, string>; branch: Branch }> = [];
  const counter: Counter<Label> = new Counter({
    ...options,
    labelNames,
    registers: [registry],
    collect() {
      for (const { labels, branch } of series) {
        if (branch.count > 0) counter.inc(labels, branch.count);
        branch.count = 0;
      }
    },
  });
  return {
    add(labels, count = 1) {
      let branch = root;
      let isNew = false;
      for (const name of labelNames) {
        let next = branch.children.get(labels[name]);
        if (next === undefined) {
          next = { children: new Map(), count: 0 };
          branch.children.set(labels[name], next);
          isNew = true;
        }
        branch = next;
      }
      branch.count += count;
      if (isNew) series.push({ labels: { ...labels }, branch });
    },
  };
}
