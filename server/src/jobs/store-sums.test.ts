import { describe, expect, it } from "vitest";
import type { SumsPlan } from "../storage/spans/span-sums.ts";
import { storeSums, type SumsDeps } from "./store-sums.ts";

const pass = { epoch: 1, afterMs: 0, untilMs: 900, closedAfterMs: 0, closedUntilMs: 600 };
const days = ["2026-01-01", "2026-01-02"].map((day) => ({ organization_id: "org", day }));

/** Runs a round and returns its steps. `turns` lists, for each check, whether it is the node's turn. */
async function round({ plan, turns }: { plan: SumsPlan; turns?: boolean[] }) {
  const done: string[] = [];
  const deps: SumsDeps = {
    spans: {
      planSums: async () => plan,
      acquireSumsLease: async () => turns?.shift() ?? true,
      listDueSums: async (_pass, { day }) => [
        { seconds: 300, slots: [Number(day.slice(-2))] },
        { seconds: 3_600, slots: [9] },
      ],
      buildSums: async (_pass, _organization, due) => void done.push(`built ${due.slots.join()} of ${due.seconds} s`),
      finishSums: async () => void done.push("finished"),
      readSumsState: async () => ({ watermarkMs: 400, nowMs: 1_000 }),
    },
    isReady: () => true,
    isShared: turns !== undefined,
    onRound: ({ behindMs, slots }) => done.push(`${slots} slots, ${behindMs} ms behind`),
    logger: undefined as never,
    timing: { marginMs: 1, openMs: 1 },
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
