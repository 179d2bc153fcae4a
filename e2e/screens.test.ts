import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect } from "vitest";
import { seriousFindings } from "./support/axe.ts";
import { browserTest, open, type OpenOptions } from "./support/browse.ts";
import { screens, type Screen } from "./support/screens.ts";
import { whole } from "./support/whole.ts";

/** Where `npm run screenshots` keeps a picture of each screen in each theme. */
const pictures = process.env["SCREENSHOTS"];

describe.each(screens)("$name", (screen) => {
  for (const theme of ["light", "dark"] as const) {
    browserTest(`is readable and reachable, ${theme}`, async () => {
      const page = await show(screen, { theme, width: 1280, height: 800 });
      if (pictures !== undefined) {
        await page.waitForLoadState("networkidle");
        await page.screenshot({ path: join(pictures, `${screen.name}-${theme}.png`) });
      }
      expect(await seriousFindings(page)).toEqual([]);
    });
  }

  browserTest("is no wider than a phone", async () => {
    const page = await show(screen, { width: 380, height: 800 });
    await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(380);
  });
});

async function show({ path, click, shows }: Screen, options: OpenOptions): Promise<Page> {
  const page = await open(path, options);
  if (click !== undefined) await page.locator(click).click();
  await page.locator(shows).first().waitFor();
  await whole(page);
  return page;
}
