import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";

/**
 * Drags over a fifth of a chart of seven days, expects that time range, and returns to the seven days with Back.
 * @param y pixels below the upper edge of the chart
 */
export async function zoomAndReturn(page: Page, chart: Locator, y: number): Promise<void> {
  const box = await chart.boundingBox();
  if (box === null) throw new Error("the chart is not shown");
  await page.mouse.move(box.x + box.width * 0.5, box.y + y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.7, box.y + y, { steps: 5 });
  await page.mouse.up();
  await page.waitForURL(/from=.*to=/);
  const { searchParams } = new URL(page.url());
  expect(searchParams.has("range")).toBe(false);
  const hours = (Date.parse(searchParams.get("to") ?? "") - Date.parse(searchParams.get("from") ?? "")) / 3_600_000;
  expect(hours).toBeGreaterThan(12);
  expect(hours).toBeLessThan(72);
  await page.goBack();
  await page.waitForURL(/range=7d/);
}
