import { describe, expect, test } from "vitest";
import { budgetsOf, conflictsOf, formOf, readForm, type CustomerFields } from "./budget-form.ts";

const customer: CustomerFields = {
  name: "Acme",
  email: null,
  group_identifier: null,
  period_budget: null,
  budget_duration: null,
  total_budget: 100,
  rate_limit: null,
  unpriced_calls: null,
  markup_percentage: 0,
};

const edited = (changes: Partial<ReturnType<typeof formOf>>, base = customer) =>
  readForm(base, { ...formOf(base), ...changes });

describe("a form", () => {
  test("that was not edited changes nothing", () => {
    for (const unpriced_calls of [null, "refuse", 0.01] as const) {
      const base = { ...customer, unpriced_calls, period_budget: 5, budget_duration: "weekly" } as const;
      expect(readForm(base, formOf(base))).toEqual({ change: {}, problems: {} });
    }
  });

  test("sends only changed fields, and null for cleared ones", () => {
    expect(edited({ name: " ", rate_limit: "60" }).change).toEqual({ name: null, rate_limit: 60 });
    expect(edited({ total_budget: "0" }).change).toEqual({ total_budget: 0 });
  });

  test("sets the period of a period budget to the calendar month by default", () => {
    expect(edited({ period_budget: "20" }).change).toEqual({ period_budget: 20, budget_duration: "monthly" });
    expect(edited({ period_budget: "20", budget_duration: "daily" }).change.budget_duration).toBe("daily");
  });

  test("reads the cost assumed for a call without a price", () => {
    expect(edited({ unpricedKind: "refuse" }).change).toEqual({ unpriced_calls: "refuse" });
    expect(edited({ unpricedKind: "amount", unpricedAmount: "0.02" }).change).toEqual({ unpriced_calls: 0.02 });
    expect(edited({ unpricedKind: "amount" }).problems).toHaveProperty("unpriced_calls");
  });

  test.each([
    ["period_budget", "-1"],
    ["total_budget", "ten"],
    ["rate_limit", "1.5"],
    ["markup_percentage", "Infinity"],
  ] as const)("reports a problem with %s %s", (name, typed) => {
    expect(edited({ [name]: typed }).problems).toHaveProperty(name);
  });
});

test("a conflict is a field that both sides changed, to different values", () => {
  const current = { ...customer, total_budget: 200, name: "Acme Inc.", rate_limit: 10 };
  expect(conflictsOf(customer, current, { total_budget: 150, rate_limit: 10 })).toEqual(["total_budget"]);
  expect(conflictsOf(customer, customer, { total_budget: 150 })).toEqual([]);
});

test("budgets are compared with the usage without the markup", () => {
  const budgets = budgetsOf({
    period_budget: 10,
    total_budget: null,
    total_period_usage: 6,
    total_usage: 6,
    markup_percentage: 20,
  });
  expect(budgets.period?.used).toBeCloseTo(5);
  expect(budgets.period?.share).toBeCloseTo(0.5);
  expect(budgets.total).toBeUndefined();
});

test("a budget of 0 is used up", () => {
  const spent = { total_budget: null, total_period_usage: 0, total_usage: 0, markup_percentage: 0 };
  expect(budgetsOf({ ...spent, period_budget: 0 }).period?.share).toBe(1);
});
