import { readFile } from "node:fs/promises";
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { testKeys } from "../../server/test/support/test-app.ts";
import { browserTest, open } from "../support/browse.ts";
import { newViewer } from "../support/people.ts";
import { unique } from "../support/unique.ts";
import { expectNone } from "../support/whole.ts";

const asKey = { authorization: `Bearer ${testKeys.prod}` };

async function makeCustomer(page: Page, customer_identifier: string, fields: object = {}): Promise<void> {
  const answer = await page.request.post("/api/users/", { headers: asKey, data: { customer_identifier, ...fields } });
  expect(answer.status()).toBe(201);
}

async function patchCustomer(page: Page, id: string, fields: object): Promise<void> {
  const answer = await page.request.patch(`/api/users/${encodeURIComponent(id)}/`, { headers: asKey, data: fields });
  expect(answer.status()).toBe(200);
}

async function readCustomer(page: Page, id: string): Promise<Record<string, unknown>> {
  const answer = await page.request.get(`/api/users/${encodeURIComponent(id)}/`, { headers: asKey });
  return (await answer.json()) as Record<string, unknown>;
}

browserTest("costs are aligned with the end of their column header", async () => {
  const page = await open("/customers?range=30d");
  const table = page.getByRole("table", { name: "Customers" });
  const costs = table.locator("td:nth-child(2)").filter({ hasText: /\$\d+\.\d/ });
  await costs.first().waitFor();
  const ends = (cells: Locator) =>
    cells.evaluateAll((elements) =>
      elements.map((element) => {
        const range = document.createRange();
        range.selectNodeContents(document.createTreeWalker(element, NodeFilter.SHOW_TEXT).nextNode() ?? element);
        return Math.round(range.getBoundingClientRect().right);
      }),
    );
  const head = table.getByRole("columnheader", { name: "Cost" });
  await expect.poll(async () => new Set([...(await ends(head)), ...(await ends(costs))]).size).toBe(1);
  expect(new Set((await costs.allInnerTexts()).map((text) => text.length)).size).toBeGreaterThan(1);
});

browserTest("customers are those of the time range or of all time, as the switch shows", async () => {
  const page = await open("/customers?range=30d");
  const pressed = page.getByRole("group", { name: "Period" }).getByRole("button", { pressed: true });
  await expect.poll(() => pressed.allInnerTexts()).toEqual(["In range"]);
  await page.getByRole("button", { name: "All time" }).click();
  await page.waitForURL(/all=1/);
  await expect.poll(() => pressed.allInnerTexts()).toEqual(["All time"]);
  await page.getByRole("button", { name: "In range" }).click();
  await page.waitForURL((url) => !url.searchParams.has("all"));
});

browserTest("customers are sorted, searched and opened", async () => {
  const page = await open("/customers?range=30d");
  const names = page
    .getByRole("table", { name: "Customers" })
    .getByRole("link")
    .filter({ hasText: /_\d{4}$/ });
  await names.first().waitFor();
  await page.getByRole("button", { name: "Customer", exact: true }).click();
  await page.waitForURL(/sort=customer_identifier/);
  await page.getByRole("searchbox").fill("SILVA");
  await page.waitForURL(/find=SILVA/);
  await expect.poll(() => names.allInnerTexts()).toEqual(["mohamed_silva_9265", "sophia_silva_7557"]);
  await names.first().click();
  await page.getByRole("heading", { level: 1, name: "mohamed_silva_9265" }).waitFor();
  await page
    .getByRole("region", { name: "Cost by model" })
    .getByRole("button", { name: /gpt-4o/ })
    .waitFor();
});

browserTest("the usage of found customers is downloaded as CSV in one click", async () => {
  const page = await open("/customers?range=30d&find=silva");
  await page.getByText("2 customers").waitFor();
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Usage CSV" }).click(),
  ]);
  const [header = "", ...lines] = (await readFile(await file.path(), "utf8")).trimEnd().split("\r\n");
  expect(header).toMatch(/"customer_identifier".*"period_start".*"total_cost"/);
  expect(new Set(lines.map((line) => line.split(",")[0]))).toEqual(
    new Set(['"mohamed_silva_9265"', '"sophia_silva_7557"']),
  );
});

browserTest("a customer's id may have slashes, emoji and characters that are reserved in URLs", async () => {
  const page = await open("/customers");
  const team = unique("team");
  const oddId = `${team}/eu west 🦊?#%41`;
  await makeCustomer(page, oddId);
  await page.goto(`/customers?all=1&find=${team}`);
  await page.getByRole("link", { name: oddId }).click();
  await page.getByRole("heading", { level: 1, name: oddId }).waitFor();
  await page.reload();
  await page.getByRole("heading", { level: 1, name: oddId }).waitFor();
  await page.getByText("Budgets and limits").waitFor();
});

browserTest(
  "a budget is edited; a change that somebody else made in the meantime is not overwritten without a question",
  async () => {
    const page = await open("/customers");
    const id = unique("edited-customer");
    await makeCustomer(page, id, { total_budget: 10 });
    await page.goto(`/customers/${id}`);
    await page.getByRole("button", { name: "Edit" }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Budget for each period, USD").fill("-1");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("A number, 0 or more; empty for none.").waitFor();
    await dialog.getByLabel("Budget for each period, USD").fill("20");
    await dialog.getByLabel("Lifetime budget, USD").fill("50");
    await patchCustomer(page, id, { total_budget: 99, name: "Renamed" });
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("Somebody else changed total_budget meanwhile.").waitFor();
    expect(await readCustomer(page, id)).toMatchObject({ total_budget: 99, period_budget: null });
    await dialog.getByRole("button", { name: "Save mine" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("meter", { name: "Period budget" }).waitFor();
    expect(await readCustomer(page, id)).toMatchObject({
      total_budget: 50,
      period_budget: 20,
      budget_duration: "monthly",
      name: "Renamed",
    });
  },
);

browserTest("a customer is deleted when its id is typed, not before", async () => {
  const page = await open("/customers", { expected: /404/ });
  const id = unique("to be deleted");
  const path = `/customers/${encodeURIComponent(id)}`;
  await makeCustomer(page, id);
  await page.goto(path);
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  const confirm = page.getByRole("button", { name: "Delete customer" });
  await page.getByLabel("Type the id to confirm").fill("to be deleted");
  await expect.poll(() => confirm.isDisabled()).toBe(true);
  await page.getByLabel("Type the id to confirm").fill(id);
  await confirm.click();
  await page.waitForURL(/\/customers$/);
  await page.goto(path);
  await page.getByText("There is no such customer").waitFor();
});

browserTest("a customer whose id has invisible characters is deleted by typing the visible ones", async () => {
  const page = await open("/customers");
  const id = unique("not\u202Eseen");
  await makeCustomer(page, id);
  await page.goto(`/customers/${encodeURIComponent(id)}`);
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByLabel("Type the id to confirm").fill(id.replace("\u202E", "⟨U+202E⟩"));
  await page.getByRole("button", { name: "Delete customer" }).click();
  await page.waitForURL(/\/customers$/);
});

browserTest("a viewer reads customers and edits nothing", async () => {
  const admin = await open("/customers");
  const id = unique("seen-by-viewers");
  await makeCustomer(admin, id);
  const viewer = await newViewer(admin);
  const page = await open(`/customers/${id}`, { as: viewer });
  await page.getByText("Budgets and limits").waitFor();
  await expectNone(page.getByRole("button", { name: /Edit|Delete/ }), page.getByText("Lifetime budget"));
});
