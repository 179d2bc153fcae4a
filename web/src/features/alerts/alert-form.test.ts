import { describe, expect, test } from "vitest";
import { changeOf, emptyForm, formOf, readForm } from "./alert-form.ts";
import type { Alert } from "./queries.ts";

const alert = {
  name: "Costs",
  filters: { log_type: "chat" },
  metric: "total_cost",
  window: "1h",
  operator: "gt",
  threshold: 10,
  change_percentage: null,
  group_by: "customer_identifier,model",
  min_requests: 5,
  cooldown: "5m",
  channels: [{ id: 7, type: "slack", url: "https://hooks.example.com/…" }],
} as unknown as Alert;

const filled = { ...emptyForm, name: "Errors", bound: "5" };

describe("a form", () => {
  test("that was not edited changes nothing", () => {
    for (const filters of [{ log_type: "chat" }, { connector: "OR", filter_params: [] }, {}]) {
      const form = formOf({ ...alert, filters });
      expect(changeOf(form, form)).toEqual({});
      expect(readForm(form).problems).toEqual({});
    }
  });

  test("sends only changed fields; an unchanged channel is identified by its id", () => {
    const form = formOf(alert);
    expect(changeOf(form, { ...form, query: "model:gpt-4o", bound: "20" })).toEqual({
      filters: { model: [{ operator: "", value: ["gpt-4o"] }] },
      threshold: 20,
    });
    const more = [...form.channels, { type: "email", target: " ops@example.com " } as const];
    expect(changeOf(form, { ...form, channels: more }).channels).toEqual([
      { id: 7, type: "slack", url: "https://hooks.example.com/…" },
      { type: "email", to: "ops@example.com" },
    ]);
  });

  test("compares with a threshold or a change, never both", () => {
    expect(readForm(filled).body).toMatchObject({ threshold: 5, change_percentage: null });
    const change = readForm({ ...filled, comparison: "change" }).body;
    expect(change).toMatchObject({ threshold: null, change_percentage: 5 });
  });

  test("names the evaluator of a score", () => {
    const score = { ...filled, metric: "scores__", evaluator: "tone" };
    expect(readForm(score).body.metric).toBe("scores__tone");
    expect(formOf({ ...alert, metric: "scores__tone" })).toMatchObject({ metric: "scores__", evaluator: "tone" });
    expect(readForm({ ...score, evaluator: "" }).problems).toHaveProperty("metric");
  });

  test.each([
    ["name", { name: " " }],
    ["threshold", { bound: "" }],
    ["threshold", { bound: "ten" }],
    ["window", { window: "an hour" }],
    ["cooldown", { cooldown: "5" }],
    ["min_requests", { minRequests: "1.5" }],
    ["filters", { query: "cost>much" }],
    ["channels.0", { channels: [{ type: "webhook", target: "" }] }],
  ] as const)("reports a problem with %s", (name, changes) => {
    expect(readForm({ ...filled, ...changes }).problems).toHaveProperty([name]);
    expect(readForm(filled).problems).toEqual({});
  });
});
