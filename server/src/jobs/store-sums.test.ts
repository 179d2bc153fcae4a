import { describe, expect, it } from "vitest";
import type { SumsPlan } from "../storage/spans/span-sums.ts";
import { jobsLimits } from "./limits.ts";
import { storeSums, type SumsDeps } from "./store-sums.ts";

const pass = { epoch: 1, afterMs: 0, untilMs: 900, closedAfterMs: 0, closedUntilMs: 600 };
const days = ["2026-01-01", "2026-01-02"].map((day) => ({ organization_id: "org", day }));

/** How many times in a row a statement fails, from its `from`th time on. */
type Faults = Partial<Record<"listDueSums" | "buildSums", { from: number; count: number }>>;

/** Runs a round and returns its steps. `turns` lists, for each check, whether it is the node's turn. */
async function round({ plan, turns, faults = {} }: { plan: SumsPlan; turns?: boolean[]; faults?: Faults }) {
  const done: string[] = [];
  const calls = { listDueSums: 0, buildSums: 0 };
  const failIfDue = (name: keyof typeof calls): void => {
    const at = (calls[name] += 1);
    const { from, count } = faults[name] ?? { from: 1, count: 0 };
    if (at >= from && at < from + count) throw new Error(`${name} failed`);
  };
  const deps: SumsDeps = {
    spans: {
      planSums: async () => plan,
      acquireSumsLease: async () => turns?.shift() ?? true,
      listDueSums: async (_pass, { day }) => {
        failIfDue("listDueSums");
        return [
          { seconds: 300, slots: [Number(day.slice(-2))] },
          { seconds: 3_600, slots: [9] },
        ];
      },
      buildSums: async (_pass, _organization, due) => {
        failIfDue("buildSums");
        done.push(`built ${due.slots.join()} of ${due.seconds} s`);
      },
      finishSums: async () => void done.push("finished"),
      readSumsState: async () => ({ watermarkMs: 400, nowMs: 1_000 }),
    },
    isReady: () => true,
    isShared: turns !== undefined,
    onRound: ({ behindMs, slots }) => done.push(`${slots} slots, ${behindMs} ms behind`),
    logger: undefined as never,
    timing: { marginMs: 1, openMs: 1 },
    retryMs: 1,
  };
  await storeSums(deps, "node", new AbortController().signal);
  return done;
}

describe("a round of sums", () => {
  it("builds every portion of every day before it finishes the pass", async () => {
    const built = ["built 1 of 300 s", "built 9 of 3600 s", "built 2 of 300 s", "built 9 of 3600 s"];
    expect(await round({ plan: { kind: "pass", pass, days } })).toEqual([
      ...built,
      "finished",
      "4 slots, 600 ms behind",
    ]);
  });

  it.each([{ listDueSums: { from: 2, count: 2 } }, { buildSums: { from: 3, count: 2 } }])(
    "continues after statements that failed for a moment: %j",
    async (faults) => {
      const plan = { kind: "pass", pass, days } as const;
      expect(await round({ plan, faults })).toEqual(await round({ plan }));
    },
  );

  it("ends if a statement keeps failing", async () => {
    const faults = { buildSums: { from: 2, count: jobsLimits.sumsAttempts } };
    await expect(round({ plan: { kind: "pass", pass, days }, faults })).rejects.toThrow("buildSums failed");
  });

  it("finishes nothing while it has to wait", async () => {
    expect(await round({ plan: { kind: "wait" } })).toEqual(["0 slots, 600 ms behind"]);
  });

  it("leaves the pass to another node whose turn it is, and states how far behind the sums are", async () => {
    const plan = { kind: "pass", pass, days } as const;
    expect(await round({ plan, turns: [false] })).toEqual(["0 slots, 600 ms behind"]);
    const cut = await round({ plan, turns: [true, true, false] });
    expect(cut).toEqual(["built 1 of 300 s", "0 slots, 600 ms behind"]);
  });
});
