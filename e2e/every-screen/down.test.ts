import type { Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { newDataDir, startServerProcess, type ServerProcess } from "../../server/test/support/server-process.ts";
import { browserTest, open } from "../support/browse.ts";
import { expectNone, whole } from "../support/whole.ts";

const away = /ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|Failed to fetch/;
const alerts = (page: Page) => page.getByRole("main").getByRole("alert");
const saysAway = { hasText: "The server does not respond" };

/** A server that stops and starts again at the same address with the same data. */
async function startStoppable() {
  const folder = newDataDir();
  let server: ServerProcess = await startServerProcess(folder.path);
  const { url } = server;
  const sent = await server.prod.post("/api/request-logs/", {
    span_name: "before it went",
    customer_identifier: "acme",
    model: "gpt-4o",
    log_type: "chat",
    input: "hi",
    output: "ho",
  });
  expect(sent.status).toBe(201);
  const stop = () => server.kill("SIGTERM");
  onTestFinished(async () => {
    await stop();
    await folder.remove();
  });
  return {
    url,
    stop,
    async start() {
      server = await startServerProcess(folder.path, { SPANWAY_PORT: new URL(url).port });
    },
  };
}

async function retryAll(page: Page): Promise<void> {
  const retry = page.getByRole("main").getByRole("button", { name: "Retry" });
  await expect
    .poll(async () => {
      if ((await retry.count()) > 0) await retry.first().click();
      await whole(page);
      return await alerts(page).count();
    })
    .toBe(0);
}

browserTest(
  "while the server is down each panel says so and offers to retry, and the page recovers once it is up again",
  async () => {
    const server = await startStoppable();
    const page = await open("/", { url: server.url, expected: away });
    const models = page.getByRole("region", { name: "Models", exact: true });
    await models.getByText("gpt-4o").waitFor();
    const panels = await page.getByRole("main").getByRole("region").count();
    await server.stop();
    await page.getByRole("button", { name: "Last 24 hours" }).click();
    await page.getByRole("button", { name: "Last 7 days" }).click();
    await page.waitForURL(/range=7d/);
    await expect.poll(() => alerts(page).filter(saysAway).count()).toBe(panels);
    await whole(page);
    // Screens and parts whose code is not loaded yet.
    const traces = page.getByRole("link", { name: "Traces", exact: true });
    await traces.click();
    await alerts(page).filter(saysAway).first().waitFor();
    await page.keyboard.press("Control+k");
    const palette = page.getByRole("alert").filter(saysAway).last();
    await palette.getByRole("button", { name: "Retry" }).waitFor();
    await page.goBack();
    await server.start();
    await palette.getByRole("button", { name: "Retry" }).click();
    await page.getByRole("combobox", { name: "Screen or id" }).press("Escape");
    await retryAll(page);
    await expectNone(alerts(page), models.getByText("gpt-4o"));
    await traces.click();
    await page.getByRole("columnheader", { name: "Duration" }).waitFor();
  },
);

browserTest("text typed while the server is down is kept, and saved once it is up again", async () => {
  const server = await startStoppable();
  const page = await open("/alerts", { url: server.url, expected: away });
  await page.getByRole("button", { name: "New alert" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("Typed meanwhile");
  await dialog.getByLabel("Threshold").fill("7");
  await server.stop();
  await dialog.getByRole("button", { name: "Create alert" }).click();
  await dialog.getByRole("alert").filter(saysAway).waitFor();
  await expect.poll(() => dialog.getByLabel("Name").inputValue()).toBe("Typed meanwhile");
  await server.start();
  await dialog.getByRole("button", { name: "Create alert" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Typed meanwhile" }).waitFor();

  await page.goto("/logs?range=7d");
  const query = page.getByRole("combobox", { name: "Query" });
  const row = page.getByRole("gridcell").filter({ hasText: "before it went" });
  await row.waitFor();
  await server.stop();
  await query.fill("customer:acme");
  await query.press("Enter");
  await alerts(page).filter(saysAway).first().waitFor();
  await expect.poll(() => query.inputValue()).toContain("customer:acme");
  await server.start();
  await retryAll(page);
  await row.waitFor();
  await expect.poll(() => query.inputValue()).toContain("customer:acme");
});
