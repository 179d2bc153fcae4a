import { expect } from "vitest";
import { browserTest, open } from "../support/browse.ts";
import { whole } from "../support/whole.ts";

const plot = "main .u-over >> nth=0";
const charts: readonly { name: string; path: string; chart: string }[] = [
  { name: "a chart of the overview", path: "/?range=7d", chart: plot },
  { name: "the large chart", path: "/?range=7d&chart=cost&by=customer", chart: plot },
  { name: "the cost of a customer", path: "/customers/harbor-hotels?range=7d", chart: plot },
  { name: "scores over time", path: "/evaluation?tab=scores&range=7d", chart: plot },
  { name: "the bars above a list", path: "/logs?range=7d", chart: "main svg[role=img]:has(rect) >> nth=0" },
];

for (const { name, path, chart } of charts) {
  browserTest(`a drag on ${name} zooms in, and Back zooms out`, async () => {
    const page = await open(path);
    await page.locator(chart).waitFor();
    await whole(page);
    const box = await page.locator(chart).boundingBox();
    if (box === null) throw new Error("the chart is not shown");
    const y = box.y + box.height / 2;
    await page.mouse.move(box.x + box.width * 0.5, y);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.7, y, { steps: 5 });
    await page.mouse.up();
    await page.waitForURL(/from=.*to=/);
    const { searchParams } = new URL(page.url());
    expect(searchParams.has("range")).toBe(false);
    const hours = (Date.parse(searchParams.get("to") ?? "") - Date.parse(searchParams.get("from") ?? "")) / 3_600_000;
    expect(hours).toBeGreaterThan(12);
    expect(hours).toBeLessThan(100);
    await page.goBack();
    await page.waitForURL(/range=7d/);
  });
}
