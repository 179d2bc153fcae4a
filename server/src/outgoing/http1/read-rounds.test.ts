import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { limits } from "../../limits.ts";
import { ReadRounds } from "./read-rounds.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

const trickle = { bytes: 200, quietMs: 20 };

/** Rounds in a loop that is as busy as the test says, and readers that tell when they may go on. */
function open(share: number, readsPerS = 2 * limits.readRoundReadsPerS) {
  const loop = { share };
  const reads = (readsPerS * limits.readRoundJudgeMs) / 1_000;
  const rounds = new ReadRounds(() => loop.share);
  const told: string[] = [];
  const rest = (name: string, read = trickle): boolean =>
    rounds.rests({ goOn: () => void told.push(name) }, { ...read, nowMs: performance.now() });
  /** Streams that are too fast for rounds go on for so many times that the loop is judged. */
  const pass = async (times: number): Promise<void> => {
    const read = (): boolean => rest("passing", { bytes: 200, quietMs: 0 });
    for (let n = 0; n < times; n += 1) {
      for (let count = 0; count < reads; count += 1) read();
      await vi.advanceTimersByTimeAsync(limits.readRoundJudgeMs);
    }
    read();
  };
  return { rounds, loop, told, rest, pass };
}

test("a loop with time to spare has no rounds", async () => {
  const { rounds, rest, pass } = open(0.3);
  await pass(5);
  expect(rounds.roundMs).toBe(0);
  expect(rest("a")).toBe(false);
});

test("rounds get longer step by step while the loop is busy, up to their bound, and end when it has time again", async () => {
  const { rounds, loop, pass } = open(0.9);
  await pass(2);
  expect(rounds.roundMs).toBe(2 * limits.readRoundStepMs);
  await pass(20);
  expect(rounds.roundMs).toBe(limits.readRoundMs);
  loop.share = (limits.readRoundBusyShare + limits.readRoundCalmShare) / 2;
  await pass(5);
  expect(rounds.roundMs).toBe(limits.readRoundMs);
  loop.share = 0.1;
  await pass(20);
  expect(rounds.roundMs).toBe(0);
});

test("a loop that is busy with something else than streams holds none of them up", async () => {
  const { rounds, rest, pass } = open(0.9, limits.readRoundReadsPerS / 2);
  await pass(20);
  expect(rounds.roundMs).toBe(0);
  expect(rest("a")).toBe(false);
});

test("what was known of the loop before a long silence does not count after it", async () => {
  const { rounds, rest, pass } = open(0.9);
  await pass(20);
  await vi.advanceTimersByTimeAsync(limits.readRoundStaleMs + 1);
  expect(rest("a")).toBe(false);
  expect(rounds.roundMs).toBe(0);
});

test("a stream that comes fast or in large pieces is never held up", async () => {
  const { rest, pass } = open(0.9);
  await pass(20);
  expect(rest("fast", { bytes: 200, quietMs: limits.readRoundTrickleMs - 1 })).toBe(false);
  expect(rest("large", { bytes: limits.readRoundTrickleBytes + 1, quietMs: 20 })).toBe(false);
  expect(rest("trickle")).toBe(true);
});

test("each goes on when its own round is over, and never later than that by more than a tick", async () => {
  const { told, rest, pass } = open(0.9);
  await pass(20);
  rest("a");
  await vi.advanceTimersByTimeAsync(limits.readRoundMs / 2);
  rest("b");
  expect(told).toEqual([]);
  await vi.advanceTimersByTimeAsync(limits.readRoundMs / 2 + limits.readRoundTickMs);
  expect(told).toEqual(["a"]);
  await vi.advanceTimersByTimeAsync(limits.readRoundMs / 2 + limits.readRoundTickMs);
  expect(told).toEqual(["a", "b"]);
});

test("many that are due go on a few at a time, in their order", async () => {
  const { told, rest, pass } = open(0.9);
  await pass(20);
  const names = Array.from({ length: 2 * limits.readRoundReaders + 1 }, (_, n) => String(n));
  for (const name of names) rest(name);
  await vi.advanceTimersByTimeAsync(limits.readRoundMs);
  expect(told).toEqual(names.slice(0, limits.readRoundReaders));
  await vi.advanceTimersByTimeAsync(2 * limits.readRoundTickMs);
  expect(told).toEqual(names);
});

test("one that left is not told, and nothing is awaited for it", async () => {
  const { rounds, pass } = open(0.9);
  await pass(20);
  const reader = { goOn: () => expect.unreachable() };
  expect(rounds.rests(reader, { ...trickle, nowMs: performance.now() })).toBe(true);
  rounds.leave(reader);
  await vi.advanceTimersByTimeAsync(2 * limits.readRoundMs);
  expect(vi.getTimerCount()).toBe(0);
});

test("the loop of this very process is judged where nobody says otherwise", () => {
  vi.useRealTimers();
  const rounds = new ReadRounds();
  const nobody = { goOn: () => undefined };
  const busyUntil = performance.now() + 3 * limits.readRoundJudgeMs;
  while (performance.now() < busyUntil) rounds.rests(nobody, { ...trickle, nowMs: performance.now() });
  rounds.leave(nobody);
  expect(rounds.roundMs).toBeGreaterThan(0);
});
