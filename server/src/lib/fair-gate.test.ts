import { expect, test } from "vitest";
import { FairGate, GateRefusal, type FairGateBounds } from "./fair-gate.ts";

const never = new AbortController().signal;

/** A gate, what was let in so far, and a way to end the work that runs. */
function open(bounds: Partial<FairGateBounds> = {}) {
  const gate = new FairGate({ maxInFlight: 1, maxWaiting: 10, maxWaitMs: 60_000, ...bounds });
  const started: string[] = [];
  const running: (() => void)[] = [];
  const ask = (name: string, signal = never) =>
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
  return { gate, started, ask, finishAll };
}

test("parties take turns, each in the order of its calls", async () => {
  const { started, ask, finishAll } = open();
  const runs = ["a1", "a2", "a3", "a4", "b1", "c1", "b2"].map((name) => ask(name));
  await finishAll();
  expect(started).toEqual(["a1", "a2", "b1", "c1", "a3", "b2", "a4"]);
  expect(await Promise.all(runs)).toHaveLength(7);
});

test("so many run at once", async () => {
  const { gate, started, ask, finishAll } = open({ maxInFlight: 3 });
  const runs = ["a1", "a2", "a3", "a4", "b1"].map((name) => ask(name));
  expect({ started, waiting: gate.waiting }).toEqual({ started: ["a1", "a2", "a3"], waiting: 2 });
  await finishAll();
  await Promise.all(runs);
  expect(gate.waiting).toBe(0);
});

test("what is more than may wait is refused at once: of one party, and of all", async () => {
  const { ask, finishAll } = open({ maxWaiting: 3 });
  const runs = ["a1", "a2", "a3", "b1"].map((name) => ask(name));
  await expect(ask("a4")).rejects.toMatchObject({ reason: "full" });
  await expect(ask("c1")).rejects.toMatchObject({ reason: "full" });
  await finishAll();
  expect(await Promise.all(runs)).toEqual(["a1", "a2", "a3", "b1"]);
});

test("nobody waits for longer than the bound, nor after leaving, and both free their place in the queue", async () => {
  const { gate, started, ask, finishAll } = open({ maxWaitMs: 20, maxWaiting: 1 });
  const first = ask("a1");
  await expect(ask("a2")).rejects.toThrow(GateRefusal);
  const leaving = new AbortController();
  const gone = ask("b1", leaving.signal);
  leaving.abort(new Error("left"));
  await expect(gone).rejects.toThrow("left");
  await expect(ask("b2", leaving.signal)).rejects.toThrow("left");
  expect(gate.waiting).toBe(0);
  const last = ask("c1");
  await finishAll();
  expect(await Promise.all([first, last])).toEqual(["a1", "c1"]);
  expect(started).toEqual(["a1", "c1"]);
});

test("work that fails gives its place back", async () => {
  const { gate, ask, finishAll } = open();
  await expect(gate.run("a", never, () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  const next = ask("a1");
  await finishAll();
  expect(await next).toBe("a1");
});

test("a party that holds nothing enters at once, where places are kept, however much another asks for", async () => {
  const { gate, started, ask, finishAll } = open({ maxInFlight: 10, maxWaiting: 100, keepsPlaces: true });
  const runs = Array.from({ length: 50 }, () => ask("a"));
  expect(started.length).toBeGreaterThan(7);
  runs.push(ask("b"));
  expect(started.at(-1)).toBe("b");
  while (gate.waiting > 0) await finishAll();
  await finishAll();
  expect(await Promise.all(runs)).toHaveLength(51);
});

test("of one party so many run at once, however many places are free", async () => {
  const { gate, started, ask, finishAll } = open({ maxInFlight: 4, maxEach: 2 });
  const runs = ["a1", "a2", "a3", "b1"].map((name) => ask(name));
  expect({ started, waiting: gate.waiting }).toEqual({ started: ["a1", "a2", "b1"], waiting: 1 });
  await finishAll();
  expect(await Promise.all(runs)).toHaveLength(4);
});
