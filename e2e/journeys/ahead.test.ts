import { expect } from "vitest";
import { browserTest, open } from "../support/browse.ts";
import { whole } from "../support/whole.ts";

browserTest("once the page is idle, the next screen loads only data", async () => {
  const page = await open("/?range=30d");
  await page.getByText("gpt-4o").first().waitFor();
  await whole(page);
  const loaded = () =>
    page.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => /assets\/(\w+)-/.exec(name)?.[1]));
  await expect.poll(loaded, { timeout: 30_000 }).toEqual(expect.arrayContaining(["logs", "traces", "settings"]));
  const code: string[] = [];
  page.on("request", (request) => {
    if (/\.(?:js|css)$/.test(request.url())) code.push(request.url());
  });
  await page.getByRole("link", { name: "Traces", exact: true }).click();
  await page.getByRole("columnheader", { name: "Duration" }).waitFor();
  await page.locator("[role=gridcell]").first().click();
  await page.getByRole("treegrid").waitFor();
  await whole(page);
  expect(code).toEqual([]);
});
