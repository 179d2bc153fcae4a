/** The editable values of a customer, as typed. */

export const durations = ["daily", "weekly", "monthly", "yearly"] as const;

export type CustomerFields = {
  name: string | null;
  email: string | null;
  group_identifier: string | null;
  period_budget: number | null;
  budget_duration: (typeof durations)[number] | null;
  total_budget: number | null;
  rate_limit: number | null;
  unpriced_calls: number | "refuse" | null;
  markup_percentage: number;
};

export type FieldName = keyof CustomerFields;

export type CustomerForm = Record<Exclude<FieldName, "unpriced_calls">, string> & {
  /** How a call without a price is treated: as free, as a fixed amount, or refused. */
  unpricedKind: "nothing" | "amount" | "refuse";
  unpricedAmount: string;
};

const text = (value: string | number | null): string => (value === null ? "" : String(value));

export function formOf(customer: CustomerFields): CustomerForm {
  const { unpriced_calls: unpriced } = customer;
  return {
    name: text(customer.name),
    email: text(customer.email),
    group_identifier: text(customer.group_identifier),
    period_budget: text(customer.period_budget),
    budget_duration: customer.budget_duration ?? "",
    total_budget: text(customer.total_budget),
    rate_limit: text(customer.rate_limit),
    markup_percentage: text(customer.markup_percentage),
    unpricedKind: unpriced === null ? "nothing" : unpriced === "refuse" ? "refuse" : "amount",
    unpricedAmount: typeof unpriced === "number" ? String(unpriced) : "",
  };
}

type Change = Partial<CustomerFields>;
export type FieldProblems = Partial<Record<FieldName, string>>;

/** The changed fields, and the values that cannot be parsed. Empty text clears a field. */
export function readForm(base: CustomerFields, form: CustomerForm): { change: Change; problems: FieldProblems } {
  const problems: FieldProblems = {};
  const amount = (name: FieldName, typed: string): number | null => {
    if (typed.trim() === "") return null;
    const value = Number(typed);
    if (Number.isFinite(value) && value >= 0) return value;
    problems[name] = "A number, 0 or more; empty for none.";
    return null;
  };
  const words = (typed: string): string | null => (typed.trim() === "" ? null : typed.trim());
  const rateLimit = amount("rate_limit", form.rate_limit);
  if (rateLimit !== null && !Number.isInteger(rateLimit)) problems.rate_limit = "A whole number of requests a minute.";
  const periodBudget = amount("period_budget", form.period_budget);
  const duration = durations.find((each) => each === form.budget_duration) ?? null;
  const isUnpricedKnown = form.unpricedKind !== "amount" || form.unpricedAmount.trim() !== "";
  if (!isUnpricedKnown) problems.unpriced_calls = "US dollars for each such call.";
  const next: CustomerFields = {
    name: words(form.name),
    email: words(form.email),
    group_identifier: words(form.group_identifier),
    period_budget: periodBudget,
    // A period budget needs a period: by default the calendar month, as on the server.
    budget_duration: periodBudget !== null && base.budget_duration === null ? (duration ?? "monthly") : duration,
    total_budget: amount("total_budget", form.total_budget),
    rate_limit: rateLimit,
    markup_percentage: amount("markup_percentage", form.markup_percentage) ?? 0,
    unpriced_calls:
      form.unpricedKind === "nothing"
        ? null
        : form.unpricedKind === "refuse"
          ? "refuse"
          : amount("unpriced_calls", form.unpricedAmount),
  };
  return { change: differenceOf(base, next), problems };
}

function differenceOf(base: CustomerFields, next: CustomerFields): Change {
  const names = Object.keys(next) as FieldName[];
  return Object.fromEntries(names.filter((name) => next[name] !== base[name]).map((name) => [name, next[name]]));
}

/** Fields of the change that somebody else has meanwhile set to a different value. */
export function conflictsOf(base: CustomerFields, current: CustomerFields, change: Change): FieldName[] {
  const names = Object.keys(change) as FieldName[];
  return names.filter((name) => current[name] !== base[name] && current[name] !== change[name]);
}

type Spending = {
  period_budget: number | null;
  total_budget: number | null;
  total_period_usage: number;
  total_usage: number;
  markup_percentage: number;
};

export type Budget = { used: number; limit: number; share: number };

/** The used share of the budgets. Usage includes the markup, budgets do not. */
export function budgetsOf(customer: Spending): { period: Budget | undefined; total: Budget | undefined } {
  const withoutMarkup = (usage: number) => usage / (1 + customer.markup_percentage / 100);
  const budget = (limit: number | null, usage: number): Budget | undefined => {
    if (limit === null) return undefined;
    const used = withoutMarkup(usage);
    return { used, limit, share: limit === 0 ? 1 : used / limit };
  };
  return {
    period: budget(customer.period_budget, customer.total_period_usage),
    total: budget(customer.total_budget, customer.total_usage),
  };
}
