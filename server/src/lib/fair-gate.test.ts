import { expect, test } from "vitest";
import { FairGate, GateRefusal, type FairGateBounds } from "./fair-gate.ts";

const never = new AbortController().signal;

/** A gate, the work that started so far, and a way to finish it. */
function open(bounds: Partial<FairGateBounds> = {}) {
  const gate = new FairGate({ maxInFlight: 1, maxWaiting: 10, maxWaitMs: 60_000, ...bounds });
  const started: string[] = [];
  const running: (() => void)[] = [];
  const enter = (name: string, signal = never) =>
    gate.run(name[0] ?? "", signal, async () => {
      started.push(name);
      await new Promise<void>((resolve) => running.push(resolve));
      return name;
    });
  const finishAll = async (): Promise<void> => {
    for (let end = running.shift(); end !== undefined; end = running.shift()) {
      end();
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { gate, started, enter, finishAll };
}

test("parties are served round-robin, each in the order of its calls", async () => {
  const { started, enter, finishAll } = open();
  const runs = ["a1", "a2", "a3", "a4", "b1", "c1", "b2"].map((name) => enter(name));
  await finishAll();
  expect(started).toEqual(["a1", "a2", "b1", "c1", "a3", "b2", "a4"]);
  expect(await Promise.all(runs)).toHaveLength(7);
});

test("maxInFlight pieces of work run concurrently", async () => {
  const { gate, started, enter, finishAll } = open({ maxInFlight: 3 });
  const runs = ["a1", "a2", "a3", "a4", "b1"].map((name) => enter(name));
  expect({ started, waiting: gate.waiting }).toEqual({ started: ["a1", "a2", "a3"], waiting: 2 });
  await finishAll();
  await Promise.all(runs);
  expect(gate.waiting).toBe(0);
});

test("work beyond the queue's bound is refused immediately, per party and in total", async () => {
  const { enter, finishAll } = open({ maxWaiting: 3 });
  const runs = ["a1", "a2", "a3", "b1"].map((name) => enter(name));
  await expect(enter("a4")).rejects.toMatchObject({ reason: "full" });
  await expect(enter("c1")).rejects.toMatchObject({ reason: "full" });
  await finishAll();
  expect(await Promise.all(runs)).toEqual(["a1", "a2", "a3", "b1"]);
});

test("a timeout and an abort both end the wait and free the place in the queue", async () => {
  const { gate, started, enter, finishAll } = open({ maxWaitMs: 20, maxWaiting: 1 });
  const first = enter("a1");
  await expect(enter("a2")).rejects.toThrow(GateRefusal);
  const leaving = new AbortController();
  const left = enter("b1", leaving.signal);
  leaving.abort(new Error("left"));
  await expect(left).rejects.toThrow("left");
  await expect(enter("b2", leaving.signal)).rejects.toThrow("left");
  expect(gate.waiting).toBe(0);
  const last = enter("c1");
  await finishAll();
  expect(await Promise.all([first, last])).toEqual(["a1", "c1"]);
  expect(started).toEqual(["a1", "c1"]);
});

test("failed work frees its place", async () => {
  const { gate, enter, finishAll } = open();
  await expect(gate.run("a", never, () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  const next = enter("a1");
  await finishAll();
  expect(await next).toBe("a1");
});

test("with keepsPlaces, an idle party enters immediately, whatever the load of another", async () => {
  const { gate, started, enter, finishAll } = open({ maxInFlight: 10, maxWaiting: 100, sharesSlots: true });
  const runs = Array.from({ length: 50 }, () => enter("a"));
  expect(started.length).toBeGreaterThan(7);
  runs.push(enter("b"));
  expect(started.at(-1)).toBe("b");
  while (gate.waiting > 0) await finishAll();
  await finishAll();
  expect(await Promise.all(runs)).toHaveLength(51);
});

test("at most maxEach pieces of work of one party run, even if places are free", async () => {
  const { gate, started, enter, finishAll } = open({ maxInFlight: 4, maxEach: 2 });
  const runs = ["a1", "a2", "a3", "b1"].map((name) => enter(name));
  expect({ started, waiting: gate.waiting }).toEqual({ started: ["a1", "a2", "b1"], waiting: 1 });
  await finishAll();
  expect(await Promise.all(runs)).toHaveLength(4);
});
