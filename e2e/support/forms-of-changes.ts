import type { Page } from "playwright-core";
import {
  dialogField,
  fieldOf,
  make,
  madeAlert,
  madeAutomation,
  madeCondition,
  madeCustomer,
  madeEvaluator,
  madeWebhook,
  nameFor,
  nameOn,
  press,
  rule,
  typed,
  type Form,
} from "./form.ts";
import { unique } from "./unique.ts";

/** Opens a dialog that asks for confirmation before it deletes. */
const asks = (button: (name: string) => string) => async (page: Page) => {
  await press(page, button(nameOn(page)));
  return undefined;
};

async function madePrice(page: Page): Promise<string> {
  const model = nameFor(page, "priced");
  await make(page, "/api/model-prices/", { model, rates: { input: 1 } });
  return `/catalogue?find=${model}`;
}

async function madeSetting(page: Page): Promise<string> {
  await make(page, "/api/providers/", {
    provider: "mistral",
    name: nameFor(page, "credential"),
    api_key: "sk-0123456789",
  });
  return "/providers";
}

async function madeScore(page: Page): Promise<string> {
  const { id: evaluator_id } = await madeEvaluator(page, { type: "human" });
  const { unique_id: log_id } = await make(page, "/api/request-logs/", { input: "hi" });
  await make(page, "/api/scores/", { log_id, evaluator_id, boolean_value: true });
  return `/spans/${String(log_id)}?tab=details`;
}

const evaluatorPath = async (page: Page) => `/evaluation?evaluator=${String((await madeEvaluator(page, rule))["id"])}`;
const conditionPath = async (page: Page) => `/evaluation?tab=conditions&condition=${await madeCondition(page)}`;
const automationPath = async (page: Page) => `/evaluation?tab=automations&automation=${await madeAutomation(page)}`;

/** Forms that change or delete existing objects. */
export const formsOfChanges: readonly Form[] = [
  {
    name: "change of an alert",
    path: madeAlert,
    async fill(page) {
      await press(page, "Edit");
      return await typed(dialogField(page, "Name"), "Typed meanwhile");
    },
    send: "Save",
  },
  { name: "an alert's switch", path: madeAlert, send: "Turn off" },
  {
    name: "change of a webhook",
    path: madeWebhook,
    async fill(page) {
      await press(page, `Edit ${nameOn(page)}`);
      return await typed(dialogField(page, "Name"), "Typed meanwhile");
    },
    send: "Save",
  },
  { name: "deletion of a webhook", path: madeWebhook, fill: asks((name) => `Delete ${name}`), send: "Delete webhook" },
  {
    name: "deletion of a customer",
    path: madeCustomer,
    async fill(page) {
      const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
      await press(page, "Delete");
      return await typed(page.getByRole("dialog").getByRole("textbox"), id);
    },
    send: "Delete customer",
  },
  {
    name: "change of an evaluator",
    path: evaluatorPath,
    fill: (page) => typed(fieldOf(page, "Name"), unique("typed")),
    send: "Save",
  },
  {
    name: "deletion of an evaluator",
    path: evaluatorPath,
    fill: asks(() => "Delete the evaluator"),
    send: "Delete evaluator",
  },
  {
    name: "change of a condition",
    path: conditionPath,
    fill: (page) => typed(fieldOf(page, "Name"), unique("typed")),
    send: "Save",
  },
  {
    name: "deletion of a condition",
    path: conditionPath,
    fill: asks(() => "Delete the condition"),
    send: "Delete condition",
  },
  {
    name: "change of an automation",
    path: automationPath,
    fill: (page) => typed(fieldOf(page, "Name"), unique("typed")),
    send: "Save",
  },
  {
    name: "deletion of an automation",
    path: automationPath,
    fill: asks(() => "Delete the automation"),
    send: "Delete automation",
  },
  {
    name: "change of an own price",
    path: madePrice,
    async fill(page) {
      await press(page, `Edit the price of ${nameOn(page)}`);
      return await typed(dialogField(page, "Input, USD"), "2");
    },
    send: "Save",
  },
  {
    name: "deletion of an own price",
    path: madePrice,
    fill: asks((name) => `Delete the price of ${name}`),
    send: "Delete price",
  },
  {
    name: "change of a credential",
    path: madeSetting,
    async fill(page) {
      await press(page, `Edit ${nameOn(page)}`);
      return await typed(dialogField(page, "Name"), unique("typed"));
    },
    send: "Save",
  },
  {
    name: "new key of a credential",
    path: madeSetting,
    async fill(page) {
      await press(page, `Replace the key of ${nameOn(page)}`);
      return await typed(page.getByRole("dialog").getByRole("textbox").first(), "sk-typed-meanwhile");
    },
    send: "Replace key",
  },
  {
    name: "a credential's switch",
    path: madeSetting,
    send: (page) => press(page, `Turn off ${nameOn(page)}`),
  },
  {
    name: "deletion of a credential",
    path: madeSetting,
    fill: asks((name) => `Delete ${name}`),
    send: "Delete credential",
  },
  {
    name: "change of a score",
    path: madeScore,
    async fill(page) {
      await press(page, /^Change the score of/);
      return await typed(page.getByLabel("Explanation"), "Typed meanwhile");
    },
    send: "Save score",
  },
  {
    name: "deletion of a saved view",
    async path(page) {
      await make(page, "/api/saved-views/", { screen: "logs", name: nameFor(page, "view"), search: "?q=type:chat" });
      return "/logs?range=30d";
    },
    fill: asks(() => "Views"),
    send: (page) => press(page, `Delete ${nameOn(page)}`),
  },
];
