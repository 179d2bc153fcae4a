import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { newDataDir, startServerProcess } from "../../server/test/support/server-process.ts";
import { testKeys } from "../../server/test/support/test-app.ts";
import { seriousFindings } from "../support/axe.ts";
import { browserTest, open } from "../support/browse.ts";
import { pageHeaders } from "../support/people.ts";
import { unique } from "../support/unique.ts";
import { whole } from "../support/whole.ts";

const panel = (page: Page, title: string) => page.getByRole("region", { name: title, exact: true });
const chart = (page: Page, title: string) => panel(page, title).getByRole("group", { name: new RegExp(`^${title}`) });

/** A window that ends before other tests send spans. */
function past(): { start: string; end: string } {
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
  return { start: daysAgo(30), end: daysAgo(1) };
}

/** The API's figures of a window. */
async function summary(page: Page, { start, end }: ReturnType<typeof past>, filters: object = {}) {
  const answer = await page.request.post(
    `/api/request-logs/summary/?start_time=${start}&end_time=${end}&environment=prod`,
    { data: { filters }, headers: pageHeaders(page) },
  );
  return (await answer.json()) as Record<string, number>;
}

browserTest("a budget owner gets from the overview to a chart by model and its CSV in two clicks", async () => {
  const window = past();
  const page = await open(`/?from=${window.start}&to=${window.end}`);
  await panel(page, "Cost").getByRole("link", { name: "Explore" }).click();
  const large = panel(page, "Cost, large");
  const [file] = await Promise.all([page.waitForEvent("download"), large.getByRole("button", { name: "CSV" }).click()]);
  const [header = "", ...rows] = (await readFile(await file.path(), "utf8")).trimEnd().split("\r\n");
  expect(header.split(",")).toContain("gpt-4o");
  const total = rows.flatMap((row) => row.split(",").slice(1)).reduce((sum, cell) => sum + Number(cell), 0);
  expect(total).toBeCloseTo((await summary(page, window))["total_cost"] ?? 0, 6);
});

browserTest("a figure opens the rows behind it", async () => {
  const window = past();
  const page = await open(`/?from=${window.start}&to=${window.end}`);
  const failed = (await summary(page, window))["error_count"];
  const figure = panel(page, "Errors")
    .first()
    .getByRole("link")
    .filter({ hasText: String(failed) });
  await figure.first().click();
  await page.waitForURL(/\/logs/);
  expect(new URL(page.url()).searchParams.get("q")).toBe("failed:true");
  expect((await summary(page, window, { failed: true }))["number_of_requests"]).toBe(failed);
});

browserTest("failures are visible immediately, and the list behind them shows the reason", async () => {
  const page = await open("/?range=30d", { width: 1280, height: 800 });
  const errors = page.getByRole("region", { name: "Errors", exact: true }).last();
  const row = errors.getByText("find policy").first();
  await row.waitFor();
  await expect.poll(() => row.evaluate((element) => element.getBoundingClientRect().bottom)).toBeLessThan(800);
  await errors.getByRole("link", { name: "All failed" }).click();
  await page.waitForURL(/\/logs/);
  await page.getByRole("columnheader", { name: "Error", exact: true }).waitFor();
  await page.getByText("The policy index did not answer within 5 s.").first().waitFor();
});

browserTest("a table that omits rows says how many it shows", async () => {
  const page = await open("/?range=30d");
  const names = page.getByRole("region", { name: "Span names" });
  await names.getByText(/^8 of \d+$/).waitFor();
  await expect.poll(() => names.locator("tbody tr").count()).toBe(8);
  const models = page.getByRole("region", { name: "Models" });
  await models.getByText("gpt-4o-mini").waitFor();
});

browserTest("the keyboard reads a chart and opens the rows of a bucket", async () => {
  const page = await open("/?range=7d");
  await chart(page, "Errors").locator(".u-over").waitFor();
  await chart(page, "Errors").focus();
  await page.keyboard.press("End");
  await chart(page, "Errors")
    .getByText(/errors \d+$/)
    .first()
    .waitFor();
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/logs\?.*from=/);
});

browserTest("a hidden series is neither in the chart's table nor in its total", async () => {
  const page = await open("/?range=30d&chart=requests&by=model&view=table");
  const large = panel(page, "Spans, large");
  await large.getByRole("columnheader", { name: "gpt-4o", exact: true }).waitFor();
  await large.getByRole("button", { name: /^gpt-4o \d/ }).click();
  await large.getByRole("columnheader", { name: "gpt-4o", exact: true }).waitFor({ state: "detached" });
});

const asKey = { authorization: `Bearer ${testKeys.prod}` };

async function sendSpan(page: Page, fields: object): Promise<void> {
  const answer = await page.request.post("/api/request-logs/", { headers: asKey, data: fields });
  expect(answer.status(), await answer.text()).toBe(201);
}

/** Records requests for figures from now on, each with its query. */
function figureRequests(page: Page): string[] {
  const requests: string[] = [];
  page.on("request", (request) => {
    if (/\/(?:timeseries|groups|list|summary)\//.test(request.url()))
      requests.push(request.url() + (request.postData() ?? ""));
  });
  return requests;
}

const isPulse = (requests: string): boolean => requests.includes("include_fields=unique_id&");

browserTest(
  "a new span is counted within seconds; figures are not refreshed without new spans or in a hidden tab",
  async () => {
    const page = await open("/", { isChanged: true });
    await page.clock.install();
    const customer = unique("fresh");
    await sendSpan(page, { customer_identifier: customer, input: "one" });
    const requests = figureRequests(page);
    await page.goto(`/?range=1h&q=customer:${customer}`);
    const count = panel(page, "Customers").getByRole("row").filter({ hasText: customer }).getByRole("cell").nth(1);
    await count.filter({ hasText: /^1$/ }).waitFor();
    await whole(page);
    await expect.poll(() => requests.filter(isPulse).length).toBeGreaterThan(2);
    const figures = requests.filter((each) => !isPulse(each));
    // A later window has a different query.
    expect(new Set(figures).size).toBe(figures.length);
    await sendSpan(page, { customer_identifier: customer, input: "two" });
    await count.filter({ hasText: /^2$/ }).waitFor({ timeout: 15_000 });
    const visit = (state: "hidden" | "visible") =>
      page.evaluate((value) => {
        Object.defineProperty(document, "visibilityState", { value, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
      }, state);
    await visit("hidden");
    await page.clock.runFor(2_000);
    requests.length = 0;
    await page.clock.runFor(30_000);
    expect(requests).toEqual([]);
    await visit("visible");
    await expect.poll(() => requests.length).toBeGreaterThan(0);
  },
);

browserTest("an error shows its first occurrence and the number of affected customers, and links to them", async () => {
  const page = await open("/");
  const [name, ...customers] = [unique("charge card"), unique("first"), unique("second")];
  const now = Date.now();
  for (const [at, customer_identifier] of [...customers, customers[1]].entries()) {
    const timestamp = new Date(now - (50 - at) * 60_000).toISOString();
    await sendSpan(page, { span_name: name, status_code: 502, error_message: "Busy.", customer_identifier, timestamp });
  }
  await page.goto(`/?range=1h&tz=utc&q=name:"${name}"`);
  const cells = panel(page, "Errors")
    .last()
    .getByRole("row")
    .filter({ hasText: name ?? "" })
    .getByRole("cell");
  const shown = () => cells.allInnerTexts();
  const since = new Date(now - 50 * 60_000).toISOString().slice(11, 15);
  await expect
    .poll(shown)
    .toEqual([
      expect.stringContaining("Busy."),
      "502",
      "3",
      "2",
      expect.stringContaining(since),
      expect.stringMatching(/^4\d min ago$/),
    ]);
  await cells.nth(3).getByRole("link").click();
  const large = panel(page, "Errors, large");
  for (const customer of customers) await large.getByText(customer).first().waitFor();
});

async function sendsTheFirstSpan(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Create a key" }).click();
  const code = page.getByLabel("Code for curl");
  await code.filter({ hasText: /spw_prod_\w{20}/ }).waitFor();
  await page.reload();
  await page.getByText(/“First key” .* a key is shown once/).waitFor();
  await page.getByRole("button", { name: "Create another key" }).click();
  await code.filter({ hasText: /spw_prod_\w{20}/ }).waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  const [key] = /spw_prod_\w+/.exec(await code.innerText()) ?? [];
  for (const way of ["Python", "Node", "OpenTelemetry"]) {
    await page.getByRole("tab", { name: way }).click();
    await expect.poll(() => page.getByLabel(`Code for ${way}`).innerText()).toContain(key);
  }
  await page.request.post("/v1/chat/completions", {
    headers: { authorization: `Bearer ${key}` },
    data: { model: "spanway/echo", user: "acme", messages: [{ role: "user", content: "Hello" }] },
  });
  await panel(page, "Models").getByRole("link", { name: "echo", exact: true }).waitFor();
}

browserTest("an empty instance shows how to send a span, and becomes the overview when one arrives", async () => {
  const folder = newDataDir();
  const server = await startServerProcess(folder.path);
  try {
    const page = await open("/", { url: server.url, theme: "dark" });
    await sendsTheFirstSpan(page);
    // The page logs errors once its server is stopped.
    await page.context().close();
  } finally {
    await server.kill("SIGTERM");
    await folder.remove();
  }
});
