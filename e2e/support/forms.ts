import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { testKeys } from "../../server/test/support/test-app.ts";
import { pageHeaders } from "./people.ts";
import { unique } from "./unique.ts";

/** A form, a dialog or a button that sends what somebody entered or decided. */
export type Form = {
  name: string;
  path: string | ((page: Page) => Promise<string>);
  /** Opens it and fills it in. Returns the field whose text must not be lost. */
  fill?: (page: Page) => Promise<Locator | undefined>;
  /** The name of the button that sends it, or what sends it. */
  send: string | ((page: Page) => Locator);
  /** Sent again it would change what other tests need, or succeed only elsewhere. */
  isSentOnce?: true;
};

const headers = { authorization: `Bearer ${testKeys.prod}` };

async function make(page: Page, path: string, data: object): Promise<Record<string, unknown>> {
  const answer = await page.request.post(path, { headers, data });
  expect([200, 201], await answer.text()).toContain(answer.status());
  return (await answer.json()) as Record<string, unknown>;
}

const press = (page: Page, name: string | RegExp) => page.getByRole("button", { name, exact: true }).first().click();

async function typed(field: Locator, text: string): Promise<Locator> {
  await field.fill(text);
  return field;
}

const dialogField = (page: Page, label: string) => page.getByRole("dialog").getByLabel(label);

async function madeAlert(page: Page): Promise<string> {
  const channels = [{ type: "webhook", url: "https://127.0.0.1/refused" }];
  const rule = { metric: "number_of_requests", window: "5m", operator: "gte", threshold: 1e9 };
  return `/alerts/${String((await make(page, "/api/alerts/", { name: unique("alert"), ...rule, channels }))["id"])}`;
}

const madeLog = async (page: Page) => String((await make(page, "/api/request-logs/", { input: "hi" }))["unique_id"]);
const madeSpan = async (page: Page) => `/spans/${await madeLog(page)}?tab=details`;

async function madeTrace(page: Page): Promise<string> {
  const trace = unique("refused");
  const span = { trace_unique_id: trace, span_unique_id: "root", span_name: "root", log_type: "task" };
  await make(page, "/api/v1/traces/ingest", [span]);
  await expect.poll(async () => (await page.request.get(`/api/traces/${trace}/`, { headers })).status()).toBe(200);
  return `/traces/${trace}`;
}

const madeEvaluator = (page: Page, more: object) => {
  const slug = unique("evaluator");
  return make(page, "/api/evaluators/", {
    name: slug,
    evaluator_slug: slug,
    score_value_type: "boolean",
    ...more,
  });
};

async function madeCustomer(page: Page): Promise<string> {
  const customer_identifier = unique("refused-customer");
  await make(page, "/api/users/", { customer_identifier });
  return `/customers/${customer_identifier}`;
}

async function madeWebhook(page: Page): Promise<string> {
  await make(page, "/api/webhooks/", {
    name: "A hook",
    url: "https://example.com/hook",
    event_type: "alert_triggered",
  });
  return "/webhooks";
}

/** Chooses the first span of the list. */
const selectOne = (page: Page) => page.getByRole("checkbox", { name: "Select this span" }).first().click();

const rule = { type: "rule", rule_config: { rule: "contains", text: "x" } };

export const forms: readonly Form[] = [
  {
    name: "new alert",
    path: "/alerts",
    async fill(page) {
      await press(page, "New alert");
      await dialogField(page, "Threshold").fill("7");
      return await typed(dialogField(page, "Name"), "Typed meanwhile");
    },
    send: "Create alert",
  },
  { name: "test of an alert", path: madeAlert, send: "Send a test" },
  {
    name: "deletion of an alert",
    path: madeAlert,
    async fill(page) {
      await press(page, "Delete");
      return undefined;
    },
    send: "Delete alert",
  },
  {
    name: "new webhook",
    path: "/webhooks",
    async fill(page) {
      await press(page, "New webhook");
      await dialogField(page, "URL").fill("https://example.com/hook");
      return await typed(dialogField(page, "Name"), "Typed meanwhile");
    },
    send: "Create webhook",
  },
  {
    name: "a webhook's switch",
    path: madeWebhook,
    send: (page) => page.getByRole("button", { name: "Turn off A hook" }).first(),
  },
  {
    name: "new secret of a webhook",
    path: madeWebhook,
    async fill(page) {
      await press(page, /^New secret for/);
      return undefined;
    },
    send: "Make new secret",
  },
  {
    name: "call of a provider",
    path: "/providers?try=spanway",
    async fill(page) {
      await dialogField(page, "Model").fill("echo");
      return await typed(dialogField(page, "Message"), "Typed meanwhile");
    },
    send: "Send",
  },
  {
    name: "new evaluator",
    path: "/evaluation?evaluator=new",
    async fill(page) {
      await page.getByLabel("Scored by").selectOption("human");
      return await typed(page.getByRole("textbox", { name: "Name" }), unique("typed"));
    },
    send: "Create evaluator",
  },
  {
    name: "new condition",
    path: "/evaluation?tab=conditions&condition=new",
    async fill(page) {
      await page.getByRole("combobox", { name: "Query" }).fill("model:nobody");
      return await typed(page.getByRole("textbox", { name: "Name" }), unique("typed"));
    },
    send: "Create condition",
  },
  {
    name: "new automation",
    async path(page) {
      await madeEvaluator(page, rule);
      const policy = { rules: [{ field: "metadata.feature", operator: "equals", value: "none" }] };
      const names = { name: unique("condition"), condition_slug: unique("condition") };
      await make(page, "/automation/conditions/", { ...names, condition_type: "single_log", condition_policy: policy });
      return "/evaluation?tab=automations&automation=new";
    },
    async fill(page) {
      await page.getByLabel("Condition").selectOption({ index: 1 });
      await page.getByRole("checkbox").first().check();
      return await typed(page.getByRole("textbox", { name: "Name" }), unique("typed"));
    },
    send: "Create automation",
  },
  {
    name: "new API key",
    path: "/settings?tab=keys",
    async fill(page) {
      await press(page, "New key");
      return await typed(dialogField(page, "Name"), "Typed meanwhile");
    },
    send: "Create key",
  },
  {
    name: "end of an API key",
    async path(page) {
      const data = { name: unique("ended"), environment: "test", expires_at: null };
      const made = await page.request.post("/api/api-keys/", { headers: pageHeaders(page), data });
      expect(made.status()).toBe(201);
      return "/settings?tab=keys";
    },
    async fill(page) {
      await page
        .getByRole("button", { name: /^End the key ended/ })
        .first()
        .click();
      return undefined;
    },
    send: "End key",
  },
  {
    name: "invitation",
    path: "/settings?tab=members",
    async fill(page) {
      await press(page, "Invite");
      return await typed(dialogField(page, "E-mail address"), `${unique("typed")}@example.com`);
    },
    send: (page) => page.getByRole("dialog").getByRole("button", { name: "Invite" }),
  },
  {
    name: "organization",
    path: "/settings?tab=organization",
    fill: (page) => typed(page.getByRole("textbox", { name: "Name" }), "Typed meanwhile"),
    send: "Save",
    isSentOnce: true,
  },
  {
    name: "password",
    path: "/settings?tab=account",
    async fill(page) {
      await page.getByLabel("Current password").fill("a long enough password");
      return await typed(page.getByLabel("New password"), "typed meanwhile");
    },
    send: (page) => page.getByRole("button", { name: /password/i }).last(),
    isSentOnce: true,
  },
  {
    name: "saved view",
    path: "/logs?range=30d&q=type:chat",
    async fill(page) {
      await press(page, "Views");
      return await typed(page.getByLabel("Name of the view"), unique("typed"));
    },
    send: (page) => page.getByRole("button", { name: "Save", exact: true }),
  },
  {
    name: "note of many spans",
    path: "/logs?range=30d&q=type:chat",
    async fill(page) {
      await selectOne(page);
      await press(page, "Note");
      return await typed(page.getByRole("dialog").getByLabel("Note"), "Typed meanwhile");
    },
    send: "Save the note",
  },
  {
    name: "score of many spans",
    async path(page) {
      await madeEvaluator(page, { type: "human" });
      return `/logs?range=1h&q=id:${await madeLog(page)}`;
    },
    async fill(page) {
      await selectOne(page);
      await press(page, "Score");
      return await typed(dialogField(page, "Value"), "true");
    },
    send: (page) => page.getByRole("dialog").getByRole("button", { name: "Score" }),
  },
  {
    name: "export",
    path: "/logs?range=30d&q=type:chat",
    async fill(page) {
      await press(page, "Export");
      return undefined;
    },
    send: (page) => page.getByRole("menuitem", { name: /^CSV/ }),
  },
  {
    name: "note of a span",
    path: madeSpan,
    fill: (page) => typed(page.getByLabel("Note"), "Typed meanwhile"),
    send: "Save note",
  },
  {
    name: "metadata of a span",
    path: madeSpan,
    async fill(page) {
      await press(page, "Add a key");
      await page.getByLabel("Key", { exact: true }).fill("typed");
      return await typed(page.getByLabel("Value", { exact: true }), "meanwhile");
    },
    send: "Save",
  },
  {
    name: "score of a span",
    async path(page) {
      await madeEvaluator(page, { type: "human" });
      return await madeSpan(page);
    },
    async fill(page) {
      await press(page, "Add a score");
      await page.getByRole("group", { name: "Value" }).getByRole("button", { name: "true" }).click();
      return await typed(page.getByLabel("Explanation"), "Typed meanwhile");
    },
    send: "Save score",
  },
  {
    name: "public link of a trace",
    path: madeTrace,
    async fill(page) {
      await press(page, "Share");
      return undefined;
    },
    send: "Create the link",
  },
  {
    name: "deletion of a trace",
    path: madeTrace,
    async fill(page) {
      await press(page, "Delete this trace");
      return await typed(page.getByRole("dialog").getByRole("textbox"), "refused-");
    },
    send: "Delete trace",
  },
  {
    name: "budget of a customer",
    path: madeCustomer,
    async fill(page) {
      await press(page, "Set budget");
      return await typed(dialogField(page, "Lifetime budget, USD"), "50");
    },
    send: "Save",
  },
  { name: "usage of customers", path: "/customers?range=30d&find=silva", send: "Usage CSV" },
  {
    name: "own price",
    path: "/catalogue",
    async fill(page) {
      await press(page, "New price");
      await dialogField(page, "Input, USD").fill("1");
      return await typed(dialogField(page, "Model"), unique("typed"));
    },
    send: "Save",
  },
  {
    name: "playground",
    path: "/playground",
    async fill(page) {
      await page.getByRole("combobox", { name: "Model" }).fill("spanway/echo");
      return await typed(page.getByLabel("Content").last(), "Typed meanwhile");
    },
    send: "Send",
  },
  {
    name: "first key",
    path: "/?env=test",
    send: (page) => page.getByRole("button", { name: /^Create a/ }),
  },
];
