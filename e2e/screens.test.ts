import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect } from "vitest";
import { seriousFindings } from "./support/axe.ts";
import { browserTest, open } from "./support/browse.ts";
import { screens, type Screen } from "./support/screens.ts";
import { whole } from "./support/whole.ts";

/** Where `npm run screenshots` keeps a picture of each screen in each theme. */
const pictures = process.env["SCREENSHOTS"];

describe.each(screens)("$name", (screen) => {
  browserTest("is readable and reachable in both themes, and no wider than a phone", async () => {
    const page = await open(screen.path, { width: 1280, height: 800 });
    await untilShown(page, screen);
    await picture(page, screen, "light");
    expect.soft(await seriousFindings(page), "in the light theme").toEqual([]);
    await page.emulateMedia({ colorScheme: "dark" });
    await picture(page, screen, "dark");
    // Only the colors of the page change.
    expect.soft(await seriousFindings(page, "colors"), "in the dark theme").toEqual([]);
    await page.setViewportSize({ width: 380, height: 800 });
    await page.locator(screen.shows).first().waitFor();
    await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(380);
  });
});

async function untilShown(page: Page, { click, shows }: Screen): Promise<void> {
  if (click !== undefined) await page.locator(click).click();
  await page.locator(shows).first().waitFor();
  await whole(page);
}

async function picture(page: Page, { name }: Screen, theme: string): Promise<void> {
  if (pictures === undefined) return;
  await page.waitForLoadState("networkidle");
  await whole(page);
  await page.screenshot({ path: join(pictures, `${name}-${theme}.png`) });
}
