import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { startTestApp, type TestApp } from "./support/test-app.ts";
import { createClient } from "./support/test-client.ts";

/** Files below deploy/ use only existing metrics, variables and values. The programs that read them are not run. */

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

describe("N11: metrics of the dashboard and the alert rules", () => {
  type Rule = { alert: string; expr: string };
  type Panel = { id: number; type: string; title: string; targets?: Array<{ expr: string }> };
  type Dashboard = { panels: Panel[]; templating: { list: Array<{ definition?: string }> } };

  const { groups } = parse(read("deploy/prometheus/alerts.yaml")) as { groups: Array<{ rules: Rule[] }> };
  const rules = groups.flatMap((group) => group.rules);
  const dashboard = JSON.parse(read("deploy/grafana/spanway-dashboard.json")) as Dashboard;
  const panels = dashboard.panels.filter(({ type }) => type !== "row");
  const expressions = [
    ...rules.map(({ alert, expr }) => [alert, expr] as const),
    ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)),
    ...dashboard.templating.list.flatMap(({ definition }) => (definition ? [["variable", definition] as const] : [])),
  ];

  let exposed: string;
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp();
    await app.prod.post("/api/request-logs/", {});
    await app.prod.waitForSpans(1);
    exposed = (await createClient(app.url).get("/metrics")).text;
  });
  afterAll(() => app.stop());

  const metricsIn = (expr: string): string[] => expr.match(/\b(?:spanway|http|process|nodejs)_\w+/g) ?? [];

  test("each panel has a query, an id and its own place", () => {
    expect(panels.length).toBeGreaterThan(20);
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
    expect(panels.filter(({ targets = [] }) => targets.length === 0)).toEqual([]);
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  });

  test.each(expressions)("%s: %s", (_name, expr) => {
    const types = new Map(Array.from(exposed.matchAll(/^# TYPE (\w+) (\w+)$/gm), ([, name, type]) => [name, type]));
    const names = metricsIn(expr);
    const isKnown = (name: string): boolean =>
      types.has(name) || types.get(name.replace(/_(?:bucket|sum|count)$/, "")) === "histogram";
    expect(names.filter((name) => !isKnown(name))).toEqual([]);
    // Prometheus itself creates the metric `up`.
    expect(names.length > 0 || expr.startsWith("up{")).toBe(true);
    // Counters and histograms are used in rates, gauges are not.
    for (const name of names) {
      const isOfGrowth = new RegExp(`\\b(?:rate|increase)\\(${name}\\b`).test(expr);
      expect([name, isOfGrowth]).toEqual([name, types.get(name) !== "gauge"]);
    }
    expect(expr.split("(").length).toBe(expr.split(")").length);
  });

  test("labels are the ones that the documents name", () => {
    const page = read("docs/metrics.md");
    const documented = new Set(Array.from(page.matchAll(/`(\w+)`/g), ([, label]) => label));
    const used = expressions.flatMap(([, expr]) => [
      ...Array.from(expr.matchAll(/\b(?:by) \(([^)]*)\)/g), ([, list = ""]) => list.split(/,\s*/)).flat(),
      ...Array.from(expr.matchAll(/[{,](\w+)=~?"/g), ([, label = ""]) => label),
    ]);
    const ofPrometheus = new Set(["instance", "job", "le"]);
    expect(used.filter((label) => !documented.has(label) && !ofPrometheus.has(label))).toEqual([]);
  });
});
