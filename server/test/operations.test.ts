import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { allLimits, pageOfLimits } from "./support/all-limits.ts";
import { createClient } from "./support/test-client.ts";
import { startTestApp, type TestApp } from "./support/test-app.ts";

/** docs/metrics.md has all metrics, docs/limits.md explains limits, and docs/all-limits.md lists them. */

/** The cells of a page's table, without its head. */
function tableOf(page: string): string[][] {
  const text = readFileSync(new URL(`../../docs/${page}`, import.meta.url), "utf8");
  const rows = text.split("\n").filter((line) => line.startsWith("|"));
  return rows.slice(2).map((row) =>
    row
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.trim()),
  );
}

const unquoted = (cell = ""): string[] => Array.from(cell.matchAll(/`([^`]+)`/g), ([, name = ""]) => name);

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

test("every metric is documented with its labels, and no other", async () => {
  const { prod } = app;
  await prod.post("/api/request-logs/", {});
  await prod.waitForSpans(1);
  const exposed = (await createClient(app.url).get("/metrics")).text;
  const ours = Array.from(exposed.matchAll(/^# TYPE ((?:spanway|http)_\w+) /gm), ([, name = ""]) => name);
  const documented = tableOf("metrics.md");
  expect(documented.flatMap(([name]) => unquoted(name)).sort()).toEqual(ours.sort());

  const labelsIn = (name: string): string[] => {
    const sample = new RegExp(`^${name}(?:_count)?\\{([^}]*)\\}`, "m").exec(exposed)?.[1] ?? "";
    return Array.from(sample.matchAll(/(\w+)="/g), ([, label = ""]) => label);
  };
  const sampled = documented.filter(([name]) => labelsIn(unquoted(name)[0] ?? "").length > 0);
  expect(sampled.length).toBeGreaterThan(5);
  for (const [name, labels] of sampled) {
    expect([name, unquoted(labels).sort()]).toEqual([name, labelsIn(unquoted(name)[0] ?? "").sort()]);
  }
});

const units: Record<string, number> = {
  "": 1,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  s: 1_000,
  min: 60_000,
  h: 3_600_000,
  days: 86_400_000,
};

const limits = await allLimits();

test.each(tableOf("limits.md"))("the limit %s is %s", (name, shown) => {
  const [, digits = "", unit = ""] = /^(\d+)(?: (\w+))?$/.exec(shown ?? "") ?? [];
  const limit = limits.find((each) => each.name === unquoted(name)[0]);
  expect(limit?.value).toBe(Number(digits) * (units[unit] ?? Number.NaN));
});

test("docs/all-limits.md is up to date: `node scripts/write-limits.ts` writes it", () => {
  expect(new Set(limits.map(({ name }) => name)).size).toBe(limits.length);
  expect(readFileSync(new URL("../../docs/all-limits.md", import.meta.url), "utf8")).toBe(pageOfLimits(limits));
});
