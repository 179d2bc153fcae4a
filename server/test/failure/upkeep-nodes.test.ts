import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { postgresSkipReason, postgresUrl } from "../support/postgres.ts";
import type { ServerProcess } from "../support/server-process.ts";
import { startTwoNodes, type TwoNodes } from "../support/two-nodes.ts";

/** One of all nodes does retention and purge. */
describe.skipIf(postgresUrl === undefined)(`N5: upkeep of two nodes${postgresSkipReason}`, () => {
  let running: TwoNodes;
  beforeAll(async () => {
    running = await startTwoNodes();
  }, 60_000);
  afterAll(() => running.stop());

  const metric = async (node: ServerProcess, name: string) => {
    const { text } = await node.prod.get("/metrics");
    return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
  };

  test("is done by one node, and by the other once the first has stopped", async () => {
    const leads = () => Promise.all(running.nodes.map((node) => metric(node, "spanway_leader")));
    await expect.poll(async () => (await leads()).toSorted((a, b) => a - b)).toEqual([0, 1]);
    const [first] = await leads();
    const [leader, other] = first === 1 ? running.nodes : running.nodes.toReversed();
    const ended = "spanway_retention_end_timestamp_seconds";
    await expect.poll(() => metric(leader!, ended), { timeout: 10_000 }).toBeGreaterThan(0);
    expect(await metric(other!, ended)).toBe(0);
    expect(await leader!.kill("SIGTERM")).toEqual({ code: 0 });
    await expect.poll(() => metric(other!, "spanway_leader"), { timeout: 30_000 }).toBe(1);
  }, 60_000);
});
