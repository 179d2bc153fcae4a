import type { Page } from "playwright-core";
import { expect } from "vitest";
import {
  dialogField,
  madeAlert,
  madeCondition,
  madeCustomer,
  madeEvaluator,
  madeLog,
  madeSpan,
  madeTrace,
  madeWebhook,
  nameOn,
  press,
  rule,
  typed,
  type Form,
} from "./form.ts";
import { formsOfChanges } from "./forms-of-changes.ts";
import { formsOfPeople } from "./forms-of-people.ts";
import { pageHeaders } from "./people.ts";
import { unique } from "./unique.ts";

/** Chooses the first span of the list. */
const selectOne = (page: Page) => page.getByRole("checkbox", { name: "Select this span" }).first().click();

/** All forms, dialogs and buttons that send something. */
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
    send: (page) => press(page, `Turn off ${nameOn(page)}`),
  },
  {
    name: "new secret of a webhook",
    path: madeWebhook,
    async fill(page) {
      await press(page, `New secret for ${nameOn(page)}`);
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
      await madeCondition(page);
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
    send: (page) => page.getByRole("dialog").getByRole("button", { name: "Invite" }).click(),
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
    send: (page) =>
      page
        .getByRole("button", { name: /password/i })
        .last()
        .click(),
    isSentOnce: true,
  },
  {
    name: "saved view",
    path: "/logs?range=30d&q=type:chat",
    async fill(page) {
      await press(page, "Views");
      return await typed(page.getByLabel("Name of the view"), unique("typed"));
    },
    send: (page) => page.getByRole("button", { name: "Save", exact: true }).click(),
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
    send: (page) => page.getByRole("dialog").getByRole("button", { name: "Score" }).click(),
  },
  {
    name: "export",
    path: "/logs?range=30d&q=type:chat",
    async fill(page) {
      await press(page, "Export");
      return undefined;
    },
    send: (page) => page.getByRole("menuitem", { name: /^CSV/ }).click(),
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
    send: (page) => page.getByRole("button", { name: /^Create a/ }).click(),
  },
  ...formsOfChanges,
  ...formsOfPeople,
];
