import { readFileSync } from "node:fs";
import { Registry } from "prom-client";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createLimitMetrics } from "../../src/telemetry/limit-metrics.ts";
import { allLimits } from "../support/all-limits.ts";
import { sharedLimits } from "../support/shared-limits.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";

/**
 * Each limit that organizations share has a metric, which moves when a greedy organization reaches the limit. Another
 * organization is admitted meanwhile: each row tests that too.
 */

const cleanup: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const undo of cleanup.splice(0).reverse()) await undo();
});

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ SPANWAY_EVALUATOR_CPU_MS: "200" });
});
afterAll(() => app.stop());

let registry: Registry;

/** From the metrics of the row's own parts, or of the server. */
async function sample(line: string): Promise<number | undefined> {
  const texts = [await registry.metrics(), await (await fetch(`${app.url}/metrics`)).text()];
  for (const text of texts) {
    const [, value] = new RegExp(`^${line} (\\S+)$`, "m").exec(text) ?? [];
    if (value !== undefined) return Number(value);
  }
  return undefined;
}
const valueOf = async (figure: "used" | "max", limit: string) =>
  (await sample(`spanway_shared_limit_${figure}\\{limit="${limit}"\\}`)) ?? 0;
const reached = async (limit: string, outcome = "waited") =>
  (await sample(`spanway_shared_limit_reached_total\\{limit="${limit}",outcome="${outcome}"\\}`)) ?? 0;

test.each(sharedLimits)(
  "%s: its metrics show what is in use, and that a greedy organization %s",
  async (limit, outcome, reach) => {
    registry = new Registry();
    let used = 0;
    const soon = { timeout: 20_000, interval: 1 };
    await reach({
      watch: createLimitMetrics(registry),
      inUse: () => expect.poll(async () => (used = await valueOf("used", limit)), soon).toBeGreaterThan(0),
      isReached: () => expect.poll(() => reached(limit, outcome), soon).toBeGreaterThan(0),
      app,
      cleanup,
    });
    expect(used).toBeLessThanOrEqual(await valueOf("max", limit));
    expect(await reached(limit, outcome)).toBeGreaterThan(0);
  },
  60_000,
);

test("a server exposes all of these limits and no others, with their values, and a guide lists them", async () => {
  const text = await (await fetch(`${app.url}/metrics`)).text();
  const exposed = Array.from(text.matchAll(/^spanway_shared_limit_max\{limit="(\w+)"\} (\S+)$/gm));
  expect(new Set(exposed.map(([, name]) => name))).toEqual(new Set(sharedLimits.map(([name]) => name)));
  // A setting of the operator, one that the engine inside the process has less of, and one per core.
  const others = new Set(["journalBytes", "queriesInFlight", "sandboxThreads"]);
  const limits = new Map((await allLimits()).map(({ name, value }) => [name, value]));
  for (const [, name = "", max] of exposed.filter(([, name = ""]) => !others.has(name))) {
    expect([name, Number(max)]).toEqual([name, limits.get(name)]);
  }
  const guide = readFileSync(new URL("../../../docs/operations.md", import.meta.url), "utf8");
  const [, table = ""] = /## Fair shares\n([^]*?)\n## /.exec(guide) ?? [];
  for (const [, name = ""] of exposed) expect(table).toContain(`\`${name}\``);
});
