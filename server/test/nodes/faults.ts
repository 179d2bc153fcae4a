import { setTimeout as sleep } from "node:timers/promises";
import type { Seeded } from "./seeded.ts";
import type { ChaosNode, System } from "./system.ts";

/** A fault of a node, or of a store that all nodes share. Each restores the normal state at its end. */
type NodeFault = (node: ChaosNode, random: Seeded) => Promise<void>;
type StoreFault = (system: System, random: Seeded) => Promise<void>;

const seconds = (random: Seeded, low: number, high: number) => sleep(random.between(low, high) * 1000);

const nodeFaults: Record<string, NodeFault> = {
  "node killed (SIGKILL)": async (node, random) => {
    await node.process.kill("SIGKILL");
    await seconds(random, 0, 5);
    await node.start(0);
  },
  "node ended (SIGTERM)": async (node, random) => {
    await node.process.kill("SIGTERM");
    await seconds(random, 0, 2);
    await node.start(0);
  },
  "node paused (SIGSTOP)": async (node, random) => {
    node.process.child.kill("SIGSTOP");
    // A node's budget reservations expire 30 seconds after their last renewal, which happens every 10 seconds.
    await seconds(random, 1, 15);
    node.process.child.kill("SIGCONT");
  },
  "node with a wrong clock": async (node, random) => {
    await node.process.kill("SIGTERM");
    await node.start(random.between(-maxSkewMs, maxSkewMs));
    await seconds(random, 10, 30);
    await node.process.kill(random.chance(0.5) ? "SIGKILL" : "SIGTERM");
    await node.start(0);
  },
};

/** Beyond 30 seconds a node does not lead; up to five minutes, versions and windows stay correct. */
const maxSkewMs = 4 * 60_000;

const storeFaults: Record<string, StoreFault> = {
  "Postgres connections dropped": async (system, random) => {
    for (let left = 1 + random.below(5); left > 0; left -= 1) {
      await system.dropPostgresConnections();
      await seconds(random, 0.2, 1.5);
    }
  },
  "Redis paused": async ({ redis }, random) => {
    redis.signal("SIGSTOP");
    await seconds(random, 1, 12);
    redis.signal("SIGCONT");
  },
  "Redis empty": ({ redis }) => redis.restart(),
  "ClickHouse refuses": async ({ clickhouse }, random) => {
    await clickhouse.setFaults({ refuse: random.pick(["503", "reset"]) });
    await seconds(random, 2, 15);
    await clickhouse.setFaults({});
  },
  "ClickHouse loses replies": async ({ clickhouse }, random) => {
    await clickhouse.setFaults({ dropInsertReplies: 1 + random.below(10) });
    await seconds(random, 2, 8);
    await clickhouse.setFaults({});
  },
  "ClickHouse is slow": async ({ clickhouse }, random) => {
    await clickhouse.setFaults({ delayMs: Math.round(random.between(200, 1500)) });
    await seconds(random, 2, 10);
    await clickhouse.setFaults({});
  },
};

/** How often each fault happened. Resolves once all faults are undone. */
export async function runFaults(
  system: System,
  random: Seeded,
  untilMs: number,
  log: (line: string) => void,
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  const happened = (name: string, at: string) => {
    counts.set(name, (counts.get(name) ?? 0) + 1);
    log(`${name}${at}`);
  };
  const free = new Set(system.nodes);
  /** Two of these run, so that two of three nodes may be down at the same time. */
  const troubleNodes = async (own: Seeded) => {
    while (performance.now() < untilMs) {
      const node = own.pick([...free]);
      const name = own.pick(Object.keys(nodeFaults));
      free.delete(node);
      happened(name, ` ${node.name}`);
      await nodeFaults[name]?.(node, own);
      free.add(node);
      await seconds(own, 1, 8);
    }
  };
  const troubleStores = async (own: Seeded) => {
    while (performance.now() < untilMs) {
      const name = own.pick(Object.keys(storeFaults));
      happened(name, "");
      await storeFaults[name]?.(system, own);
      await seconds(own, 2, 10);
    }
  };
  await Promise.all([troubleNodes(random.fork()), troubleNodes(random.fork()), troubleStores(random.fork())]);
  return counts;
}
