import type { Locator, Page } from "playwright-core";
import { expect, inject } from "vitest";
import { createSpan, settle } from "../../server/test/support/spans.ts";
import { createClient } from "../../server/test/support/test-client.ts";
import { testKeys } from "../../server/test/support/test-app.ts";
import { browserTest, open } from "../support/browse.ts";
import { unique } from "../support/unique.ts";
import { whole } from "../support/whole.ts";

/** Important content fits into the window, without horizontal scrolling and without an ellipsis. */

const phone = { width: 380, height: 800 };
const laptop = { width: 1280, height: 800 };

async function expectToFit(page: Page, table: Locator): Promise<void> {
  await table.getByRole("cell").first().waitFor();
  await whole(page);
  await expect
    .poll(() => table.evaluate(({ scrollWidth, parentElement }) => scrollWidth - (parentElement?.clientWidth ?? 0)))
    .toBeLessThanOrEqual(0);
}

browserTest("costs of traces on a phone", async () => {
  const client = createClient(inject("site")?.url ?? "", testKeys.prod);
  // Both have many digits before and after the decimal point.
  for (const cost of [1234.5, 12.5, 0.00000036]) await createSpan(client, { cost, trace_unique_id: unique("cost") });
  await settle(client);
  const page = await open("/traces?range=30d", phone);
  await page.getByText("$0.00000036").first().waitFor();
  const costs = page.locator("[role=gridcell]", { hasText: "$" });
  await costs.first().waitFor();
  await whole(page);
  await expect
    .poll(() => costs.evaluateAll((cells) => cells.filter((cell) => cell.scrollWidth > cell.clientWidth).length))
    .toBe(0);
});

browserTest("end times of traces of earlier days, on a phone and at 1280 pixels", async () => {
  const client = createClient(inject("site")?.url ?? "", testKeys.prod);
  const customer = unique("earlier");
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
  for (const days of [2, 11])
    await createSpan(client, {
      customer_identifier: customer,
      timestamp: daysAgo(days),
      trace_unique_id: unique("old"),
    });
  await settle(client);
  for (const size of [phone, laptop]) {
    const page = await open(`/traces?range=30d&q=customer:${customer}`, size);
    const times = page.locator("[role=gridcell]:has(time)");
    await times
      .filter({ hasText: /^[A-Z][a-z]{2} \d/, visible: true })
      .first()
      .waitFor();
    await whole(page);
    await expect
      .poll(() => times.evaluateAll((cells) => cells.filter((cell) => cell.scrollWidth > cell.clientWidth).length))
      .toBe(0);
  }
});

browserTest("cost and latency of spans at 1280 pixels", async () => {
  const page = await open("/logs?range=30d", laptop);
  const head = page.getByRole("columnheader", { name: "Latency" });
  await head.waitFor();
  await whole(page);
  await expect
    .poll(() => head.evaluate((element) => element.getBoundingClientRect().right))
    .toBeLessThanOrEqual(laptop.width);
});

browserTest("the figures of spans beside an open one, from 1280 to 1600 pixels", async () => {
  for (const width of [1280, 1400, 1600]) {
    const page = await open("/logs?range=30d", { width, height: 800 });
    await page.getByRole("gridcell", { name: "assistant turn" }).first().click();
    await page.getByRole("complementary", { name: "The open span" }).waitFor();
    await whole(page);
    const grid = page.getByRole("grid", { name: "Spans" });
    const heads = grid.getByRole("columnheader");
    const titles = ["Time", "Status", "Name", "Model", "Tokens", "Cost", "Latency"];
    await expect.poll(() => heads.filter({ hasText: /./ }).allInnerTexts()).toEqual(titles);
    await expect
      .poll(() => grid.evaluate(({ scrollWidth, parentElement }) => scrollWidth - (parentElement?.clientWidth ?? 0)))
      .toBeLessThanOrEqual(0);
    const cut = grid.locator("[role=gridcell]:has(time, .figures)");
    await expect
      .poll(() => cut.evaluateAll((cells) => cells.filter((cell) => cell.scrollWidth > cell.clientWidth).length))
      .toBe(0);
  }
});

browserTest("the buttons of a list and of a trace in one row beside an open span, and costs in the trace", async () => {
  const wide = { width: 1400, height: 900 };
  const heightOf = (locator: Locator) => locator.evaluate((element) => element.getBoundingClientRect().height);
  const logs = await open("/logs?range=30d", wide);
  await logs.getByRole("gridcell", { name: "assistant turn" }).first().click();
  await logs.getByRole("complementary", { name: "The open span" }).waitFor();
  const query = logs
    .getByRole("combobox", { name: "Query" })
    .locator("xpath=ancestor::*[contains(@class, 'flex-wrap')]");
  await expect.poll(() => heightOf(query)).toBeLessThan(40);
  const trace = await open("/traces?range=30d&sort=-total_cost", wide);
  await trace.getByRole("gridcell", { name: "airline-agent" }).first().click();
  const row = trace.getByRole("row", { name: /assistant turn/ }).first();
  await row.click();
  await trace.getByRole("complementary", { name: "Span" }).waitFor();
  const toolbar = trace.getByRole("tablist", { name: "View" }).locator("..");
  await expect.poll(() => heightOf(toolbar)).toBeLessThan(40);
  await row.getByText(/^\$0\.\d+$/).waitFor();
});

browserTest("alerts with their rules, and keys with the button that ends them, on a phone", async () => {
  const alerts = await open("/alerts", phone);
  await expectToFit(alerts, alerts.getByRole("table", { name: "Alerts" }));
  await alerts.getByText("Cost > $0.50 in 7d").filter({ visible: true }).waitFor();
  const keys = await open("/settings?tab=keys", phone);
  await expectToFit(keys, keys.getByRole("table", { name: "API keys" }));
  await keys
    .getByRole("button", { name: /^End the key/ })
    .first()
    .waitFor();
});

browserTest("placeholders of search fields, on a phone", async () => {
  for (const path of ["/logs", "/customers", "/catalogue", "/providers", "/docs"]) {
    const page = await open(path, phone);
    const input = page.locator("main [role=combobox], input[type=search], .operation-filter-input").first();
    const room = () =>
      input.evaluate((element) => {
        const context = document.createElement("canvas").getContext("2d");
        if (!(element instanceof HTMLInputElement) || context === null) return -1;
        const { font, paddingLeft, paddingRight } = getComputedStyle(element);
        context.font = font;
        const text = context.measureText(element.placeholder).width;
        return element.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight) - text;
      });
    await expect.poll(room).toBeGreaterThanOrEqual(0);
  }
});

browserTest("members with their roles, and own sessions, on a phone", async () => {
  for (const tab of ["members", "account"]) {
    const page = await open(`/settings?tab=${tab}`, phone);
    await expectToFit(page, page.getByRole("table"));
  }
});

browserTest("the explanation of a score beside a scorer with a long name, on a phone", async () => {
  const client = createClient(inject("site")?.url ?? "", testKeys.prod);
  const id = String((await createSpan(client, {}))["unique_id"]);
  const [slug, explanation] = [unique("long-scorer"), "It answers what was asked."];
  const evaluator = { name: slug, evaluator_slug: slug, type: "human", score_value_type: "boolean" };
  expect((await client.post("/api/evaluators/", evaluator)).status).toBe(201);
  const score = {
    evaluator_slug: slug,
    boolean_value: true,
    explanation,
    scorer: `${"somebody-".repeat(8)}@example.com`,
  };
  expect((await client.post(`/api/logs/${id}/scores/`, score)).status).toBe(201);
  const page = await open(`/spans/${id}?tab=details`, phone);
  const width = () => page.getByText(explanation).evaluate((element) => element.getBoundingClientRect().width);
  await expect.poll(width).toBeGreaterThan(90);
});

browserTest("the cost of customers beside a long id, on a phone", async () => {
  const client = createClient(inject("site")?.url ?? "", testKeys.prod);
  const id = `${unique("long")}-${"0123456789abcdef".repeat(4)}`;
  await createSpan(client, { customer_identifier: id, cost: 0.5 });
  await settle(client);
  await expect.poll(async () => (await client.get(`/api/users/${id}/`)).status).toBe(200);
  const page = await open(`/customers?range=1h&find=${id}`, phone);
  const cost = page
    .getByRole("row", { name: id })
    .getByRole("cell")
    .filter({ hasText: /^\$0\.50*$/ });
  await expect
    .poll(() => cost.evaluate((element) => element.getBoundingClientRect().right))
    .toBeLessThanOrEqual(phone.width);
});

browserTest("the buttons of a customer's chart, and its budget, on a phone", async () => {
  const page = await open("/customers/harbor-hotels?range=30d", phone);
  const right = (locator: Locator) =>
    locator.evaluate((element) => Math.ceil(element.getBoundingClientRect().right + 12));
  const chart = page.getByRole("region", { name: "Cost by model" });
  await expect.poll(() => right(chart.getByRole("button", { name: "CSV" }))).toBeLessThanOrEqual(phone.width);
  const bar = page.getByRole("meter", { name: "Period budget" });
  await expect.poll(() => bar.evaluate((element) => element.getBoundingClientRect().width)).toBeGreaterThan(90);
});

browserTest("the buttons of the playground on a phone, in one row", async () => {
  const page = await open("/playground", phone);
  const top = (name: string) =>
    page.getByRole("button", { name }).evaluate((element) => element.getBoundingClientRect().top);
  const tops = () => Promise.all(["Clear", "Add model", "Send"].map(top));
  await expect.poll(async () => new Set(await tops()).size).toBe(1);
});

browserTest("content that continues beyond the edge fades out", async () => {
  const page = await open("/customers?range=30d", phone);
  const scroller = page.getByRole("table", { name: "Customers" }).locator("..");
  const fades = () =>
    scroller.evaluate((element) => ({
      before: element.hasAttribute("data-before"),
      after: element.hasAttribute("data-after"),
      isMasked: getComputedStyle(element).maskImage !== "none",
    }));
  await expect.poll(fades).toEqual({ before: false, after: true, isMasked: true });
  // Figures that load later widen the table.
  await whole(page);
  await scroller.evaluate((element) => element.scrollTo(element.scrollWidth, 0));
  await expect.poll(fades).toEqual({ before: true, after: false, isMasked: true });
  await page.setViewportSize(laptop);
  await expect.poll(fades).toEqual({ before: false, after: false, isMasked: false });
});

browserTest(
  "beside an open span, clipped columns of the list fade out, and text columns grow with the window",
  async () => {
    const page = await open("/logs?range=30d", { width: 1400, height: 800 });
    const grid = page.getByRole("grid", { name: "Spans" });
    const widthOf = (name: string) =>
      page.getByRole("columnheader", { name }).evaluate((element) => element.getBoundingClientRect().width);
    await whole(page);
    const [model, cost] = [await widthOf("Model"), await widthOf("Cost")];
    await page.setViewportSize({ width: 1920, height: 800 });
    await expect.poll(() => widthOf("Model")).toBeGreaterThan(model + 50);
    expect(await widthOf("Cost")).toBe(cost);
    await page.setViewportSize({ width: 1024, height: 800 });
    await grid.getByRole("row").nth(1).click();
    await page.getByRole("complementary", { name: "The open span" }).waitFor();
    const mask = () => grid.locator("..").evaluate((element) => getComputedStyle(element).maskImage);
    await expect.poll(mask).toContain("gradient");
  },
);

browserTest("actor, action and address in the audit log, at 1280 pixels", async () => {
  const page = await open("/settings?tab=audit", laptop);
  await expectToFit(page, page.getByRole("table", { name: "Audit log" }));
});
