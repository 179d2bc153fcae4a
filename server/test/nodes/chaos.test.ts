import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { completion } from "../support/chat.ts";
import { newAutomation, newCondition, policy } from "../support/evaluation.ts";
import { settle, settleCalls } from "../support/spans.ts";
import { answers } from "../support/scripted-upstream.ts";
import { postgresSkipReason, postgresUrl } from "../support/postgres.ts";
import { audit, countScores } from "./audit.ts";
import { runFaults } from "./faults.ts";
import { newLedger } from "./ledger.ts";
import { seeded } from "./seeded.ts";
import { startSystem, type System } from "./system.ts";
import { callUsage, judgedOutput, runTraffic } from "./traffic.ts";

/**
 * Three nodes, a load balancer and the stores, under seeded faults for a while; afterwards every acknowledged id is counted. The seed
 * repeats the faults, not their effects: the timing of processes varies.
 */
const seed = Number(process.env["SPANWAY_CHAOS_SEED"] ?? 1);
const seconds = Number(process.env["SPANWAY_CHAOS_SECONDS"]);
const durationMs = seconds * 1000;
/** For journals, counters, judges and webhooks to process what the faults delayed. */
const settleMs = 180_000;

describe.skipIf(postgresUrl === undefined)(
  `three nodes behind nginx, over one Postgres, Redis and ClickHouse${postgresSkipReason}`,
  () => {
    let system: System;
    beforeAll(async () => {
      system = await startSystem();
      return () => system.stop();
    }, 120_000);

    test(
      `lose nothing, count nothing twice and exceed no budget in ${seconds} seconds of faults`,
      async () => {
        const [ledger, random] = [newLedger(), seeded(seed)];
        await listenAndJudge(system);
        const startedMs = performance.now();
        const log = (line: string) =>
          console.log(`${((performance.now() - startedMs) / 1000).toFixed(1).padStart(6)} s  ${line}`);
        const deps = { system, ledger, untilMs: startedMs + durationMs };
        const [faults] = await Promise.all([
          runFaults(system, random.fork(), deps.untilMs, log),
          runTraffic(deps, random.fork()),
        ]);
        log("the faults are over");
        await settleAll(system);

        const { figures, ...wrong } = await audit(system, ledger);
        const report = { seed, seconds, ...Object.fromEntries(faults), ...figures };
        console.log(JSON.stringify({ ...report, answers: Object.fromEntries(ledger.answers) }, undefined, 2));
        expect({ ...wrong, refusals: ledger.refusals }).toEqual({
          ...Object.fromEntries(Object.keys(wrong).map((name) => [name, []])),
          refusals: [],
        });
        expect(figures["spans acknowledged"]).toBeGreaterThan(seconds * 5);
      },
      durationMs + 2 * settleMs,
    );
  },
);

/** A webhook that receives every span, and an evaluator that scores some of them. */
async function listenAndJudge({ nodes, upstream, receiver }: System): Promise<void> {
  upstream.script(answers(200, completion({ usage: callUsage })));
  const { client } = nodes[0]!;
  const hook = { name: "Logs", url: `${receiver.url}/logs`, event_type: "request_log" };
  expect((await client.post("/api/webhooks/", hook)).status).toBe(201);
  const rule = { field: "output", operator: "equals", value: judgedOutput };
  const condition = (await newCondition(client, { condition_policy: policy(rule) }))["id"];
  await newAutomation(client, { condition });
  // Nodes load each other's webhooks and automations within two seconds.
  await sleep(3_000);
}

async function settleAll({ nodes, receiver }: System): Promise<void> {
  for (const { client } of nodes) {
    await eventuallyDone(() => settle(client));
    await eventuallyDone(() => settleCalls(client));
  }
  await eventuallyStable(async () => [receiver.received.length, await countScores(nodes[0]!.client)]);
}

async function eventuallyDone(step: () => Promise<void>): Promise<void> {
  const deadline = performance.now() + settleMs;
  for (;;) {
    try {
      await step();
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await sleep(500);
    }
  }
}

/** Until nothing changes for some seconds: a webhook retry may wait that long. */
async function eventuallyStable(figures: () => Promise<number[]>): Promise<void> {
  const deadline = performance.now() + settleMs;
  let [before, sinceMs] = ["", performance.now()];
  while (performance.now() < deadline && performance.now() - sinceMs < quietMs) {
    const now = (await figures()).join();
    if (now !== before) [before, sinceMs] = [now, performance.now()];
    await sleep(1_000);
  }
}

const quietMs = 40_000;
