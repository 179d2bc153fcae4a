import { join } from "node:path";
import type { Page } from "playwright-core";
import { open, type OpenOptions, type Theme } from "./browse.ts";
import type { Screen } from "./screens.ts";
import { whole } from "./whole.ts";

/** A new window with the screen, loaded there for the first time, once it is completely drawn. */
export async function show(screen: Screen, options: OpenOptions = {}): Promise<Page> {
  const page = await open(screen.path, { width: 1280, height: 800, ...options });
  if (screen.click !== undefined) await page.locator(screen.click).click();
  await page.locator(screen.shows).first().waitFor();
  await whole(page);
  return page;
}

/** The folder where `npm run screenshots` stores a picture of each screen in each theme. */
const pictures = process.env["SCREENSHOTS"];

export async function picture(page: Page, { name }: Screen, theme: Theme): Promise<void> {
  if (pictures === undefined) return;
  await page.waitForLoadState("networkidle");
  await whole(page);
  await page.screenshot({ path: join(pictures, `${name}-${theme}.png`) });
}
