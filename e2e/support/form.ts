import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { testKeys } from "../../server/test/support/test-app.ts";
import { unique } from "./unique.ts";

/** A form, a dialog or a button that sends input or a decision of the user. */
export type Form = {
  name: string;
  path: string | ((page: Page) => Promise<string>);
  /** Opens it and fills it in. Returns the field whose text must be kept. */
  fill?: (page: Page) => Promise<Locator | undefined>;
  /** The name of the button that sends it, or a function that sends it. */
  send: string | ((page: Page) => Promise<void>);
  /** A second request would change data of other tests, or succeed only elsewhere. */
  isSentOnce?: true;
  /** Nobody is signed in, so the page gets a 401. */
  isSignedOut?: true;
};

const headers = { authorization: `Bearer ${testKeys.prod}` };

export async function make(page: Page, path: string, data: object): Promise<Record<string, unknown>> {
  const answer = await page.request.post(path, { headers, data });
  expect([200, 201], await answer.text()).toContain(answer.status());
  return (await answer.json()) as Record<string, unknown>;
}

/** The object created for the form of a page: other tests create similar ones at the same time. */
const madeNames = new WeakMap<Page, string>();
export const nameOn = (page: Page): string => madeNames.get(page) ?? "";

/** @returns the name, which `nameOn` repeats */
export function nameFor(page: Page, prefix: string): string {
  const name = unique(prefix);
  madeNames.set(page, name);
  return name;
}

export const press = (page: Page, name: string | RegExp) =>
  page.getByRole("button", { name, exact: true }).first().click();

export async function typed(field: Locator, text: string): Promise<Locator> {
  await field.fill(text);
  return field;
}

export const fieldOf = (page: Page, name: string) => page.getByRole("textbox", { name });

export const dialogField = (page: Page, label: string) => page.getByRole("dialog").getByLabel(label);

export async function madeAlert(page: Page): Promise<string> {
  const channels = [{ type: "webhook", url: "https://127.0.0.1/refused" }];
  const rule = { metric: "number_of_requests", window: "5m", operator: "gte", threshold: 1e9 };
  return `/alerts/${String((await make(page, "/api/alerts/", { name: unique("alert"), ...rule, channels }))["id"])}`;
}

export const madeLog = async (page: Page) =>
  String((await make(page, "/api/request-logs/", { input: "hi" }))["unique_id"]);
export const madeSpan = async (page: Page) => `/spans/${await madeLog(page)}?tab=details`;

export async function madeTrace(page: Page): Promise<string> {
  const trace = unique("refused");
  const span = { trace_unique_id: trace, span_unique_id: "root", span_name: "root", log_type: "task" };
  await make(page, "/api/v1/traces/ingest", [span]);
  await expect.poll(async () => (await page.request.get(`/api/traces/${trace}/`, { headers })).status()).toBe(200);
  return `/traces/${trace}`;
}

export const madeEvaluator = (page: Page, more: object) => {
  const slug = unique("evaluator");
  return make(page, "/api/evaluators/", {
    name: slug,
    evaluator_slug: slug,
    score_value_type: "boolean",
    ...more,
  });
};

export async function madeCustomer(page: Page): Promise<string> {
  const customer_identifier = unique("refused-customer");
  await make(page, "/api/users/", { customer_identifier });
  return `/customers/${customer_identifier}`;
}

export async function madeWebhook(page: Page): Promise<string> {
  await make(page, "/api/webhooks/", {
    name: nameFor(page, "hook"),
    url: "https://example.com/hook",
    event_type: "alert_triggered",
  });
  return "/webhooks";
}

export const rule = { type: "rule", rule_config: { rule: "contains", text: "x" } };

/** @returns its id */
export async function madeCondition(page: Page): Promise<string> {
  const policy = { rules: [{ field: "metadata.feature", operator: "equals", value: "none" }] };
  const names = { name: unique("condition"), condition_slug: unique("condition") };
  const data = { ...names, condition_type: "single_log", condition_policy: policy };
  return String((await make(page, "/automation/conditions/", data))["id"]);
}

/** @returns its id */
export async function madeAutomation(page: Page): Promise<string> {
  const { id: evaluator } = await madeEvaluator(page, rule);
  const names = { name: unique("automation"), automation_slug: unique("automation") };
  const data = {
    ...names,
    automation_type: "online_eval",
    condition: await madeCondition(page),
    evaluator_ids: [evaluator],
    configuration: { sampling_rate: 1 },
  };
  return String((await make(page, "/automation/automations/", data))["id"]);
}
