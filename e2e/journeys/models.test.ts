import type { Page } from "playwright-core";
import { expect } from "vitest";
import { browserTest, open } from "../support/browse.ts";
import { pageHeaders } from "../support/people.ts";

/** An earlier try of this test may have left one. */
async function endPrices(page: Page, pattern: string): Promise<void> {
  const headers = pageHeaders(page);
  const answer = await page.request.get("/api/model-prices/", { headers });
  const { results } = (await answer.json()) as { results: Array<{ id: string; model: string }> };
  for (const { id, model } of results)
    if (model === pattern) await page.request.delete(`/api/model-prices/${id}/`, { headers });
}

browserTest("a model gets an own price, which is marked, edited and deleted", async () => {
  const page = await open("/catalogue?provider=mistral", { expected: /409/ });
  await endPrices(page, "codestral*");
  await page.reload();
  const catalogue = page.getByRole("table", { name: "Catalogue" });
  const own = page.getByRole("table", { name: "Own prices" });
  await page.getByRole("searchbox", { name: "Find models" }).fill("CODESTRAL");
  await page.waitForURL(/provider=mistral&find=CODESTRAL/);
  const row = catalogue.getByRole("row").filter({ hasText: "codestral" }).first();
  await row.getByRole("button", { name: /State an own price/ }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Model").fill("codestral*");
  await dialog.getByLabel("Input, USD").fill("free");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByText("A number, 0 or more; empty for none.").waitFor();
  await dialog.getByLabel("Input, USD").fill("7.25");
  await dialog.getByLabel("Another rate").selectOption("input_audio");
  await dialog.getByLabel("Input audio, USD").fill("9.5");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  await own.getByText("Input audio $9.50 per million tokens").waitFor();
  await expect.poll(() => row.innerText()).toMatch(/own price[\s\S]*\$7\.25/);

  await page.getByRole("button", { name: "New price" }).click();
  await dialog.getByLabel("Model").fill("codestral*");
  await dialog.getByLabel("Provider").fill("mistral");
  await dialog.getByLabel("Output, USD").fill("1");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByText(/end it first, or change it/).waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();

  await row.getByRole("button", { name: /Edit the own price/ }).click();
  await dialog.getByLabel("Input, USD").fill("0");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect.poll(() => row.innerText()).toMatch(/own price[\s\S]*\$0\b/);

  await own.getByRole("button", { name: "Delete the price of codestral*" }).click();
  await page.getByRole("button", { name: "Delete price" }).click();
  await own.getByText("codestral*").waitFor({ state: "detached" });
  await expect.poll(() => row.innerText()).not.toMatch(/own price/);
});
