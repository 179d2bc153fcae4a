import { pino } from "pino";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openMemoryControl } from "../../test/support/memory-control.ts";
import { jobsLimits } from "./limits.ts";
import type { ControlStores } from "../storage/control/control-stores.ts";
import { startLeader, type Leader } from "./leader.ts";

let stores: ControlStores;
let close: () => Promise<void>;
const leaders: Leader[] = [];
beforeEach(async () => {
  ({ stores, close } = await openMemoryControl());
});
afterEach(async () => {
  for (const leader of leaders.splice(0)) await leader.stop();
  await close();
});

const clock = { ms: Date.parse("2026-03-01T10:00:00.000Z") };
function newNode(node = { mayLead: true, isDisconnected: false }) {
  const disconnect = async () => {
    if (node.isDisconnected) throw new Error("no connection");
  };
  const leader = startLeader({
    leases: {
      take: async (lease) => (await disconnect(), stores.leases.take(lease)),
      release: async (lease) => (await disconnect(), stores.leases.release(lease)),
    },
    mayLead: () => node.mayLead,
    logger: pino({ level: "silent" }),
    now: () => clock.ms,
    renewEveryMs: 10,
  });
  leaders.push(leader);
  const { signal } = new AbortController();
  const works = async () => {
    let isDone = false;
    await leader.lead(signal, async () => void (isDone = true));
    return isDone;
  };
  return { ...leader, node, signal, works };
}

test("N5: one of several nodes does the work, and another takes over when it stops", async () => {
  const [one, other] = [newNode(), newNode()];
  const led = [await one.works(), await other.works()];
  expect(led.filter(Boolean)).toHaveLength(1);
  const [leads, waits] = led[0] === true ? [one, other] : [other, one];
  await leads.stop();
  await expect.poll(() => waits.works()).toBe(true);
  expect(await leads.works()).toBe(false);
});

test("a disconnected node stops working when its lease ends, and its running work is aborted", async () => {
  const one = newNode();
  expect(await one.works()).toBe(true);
  const other = newNode();
  expect(await other.works()).toBe(false);
  let reason: unknown;
  const began = Promise.withResolvers<void>();
  const ended = one.lead(
    one.signal,
    (signal) =>
      new Promise((resolve) => {
        began.resolve();
        signal.addEventListener("abort", () => {
          reason = signal.reason;
          resolve();
        });
      }),
  );
  await began.promise;
  one.node.isDisconnected = true;
  clock.ms += jobsLimits.leaseMs;
  expect(one.isLeader()).toBe(false);
  await ended;
  expect(String(reason)).toContain("another node does this now");
  await expect.poll(() => other.works()).toBe(true);
  one.node.isDisconnected = false;
  expect(await one.works()).toBe(false);
});

test("N8: a node whose clock is far off does not lead and releases the lease", async () => {
  const one = newNode();
  expect(await one.works()).toBe(true);
  const other = newNode();
  one.node.mayLead = false;
  await expect.poll(() => other.works()).toBe(true);
  expect(await one.works()).toBe(false);
});
