import type { Page } from "playwright-core";
import { describe, expect } from "vitest";
import { browserTest } from "./browse.ts";
import { screens } from "./screens.ts";
import { show } from "./show.ts";
import { whole } from "./whole.ts";

export type Refusal = { status: number; code: string; says: string[] };

/** The session is known before: without it there is no screen. */
const isOfSession = (url: string): boolean => new URL(url).pathname === "/api/auth/me/";

/** Dialogs that a reload of the page closes, or that cover their screen. */
const dialogs = new Set(["new credential", "try a provider"]);

/** Responds to all requests for data with the refusal. @returns the number of such requests so far */
async function refuse(page: Page, { status, code }: Refusal): Promise<() => number> {
  let requests = 0;
  await page.route(/\/(?:api|v1|automation)\//, (route) => {
    if (isOfSession(route.request().url())) return route.continue();
    requests += 1;
    const json = { detail: `refused with ${status}`, code, request_id: "req-of-the-test" };
    return route.fulfill({ status, headers: { "retry-after": "7" }, json });
  });
  return () => requests;
}

const laptop = { width: 1280, height: 800 };
const phone = { width: 380, height: 800 };

/** Each screen when the server refuses all its requests. */
export function testRefused(refusal: Refusal): void {
  const { status, says } = refusal;
  describe.each(screens.filter(({ name }) => !dialogs.has(name)))("$name", (screen) => {
    browserTest(`shows in each panel that the server responded with ${status}, and recovers afterwards`, async () => {
      const page = await show(screen, { ...laptop, expected: new RegExp(`status of ${status}`) });
      const alerts = page.getByRole("alert");
      const requests = await refuse(page, refusal);
      await page.reload();
      await page.getByRole("main").waitFor();
      await whole(page);
      for (const text of requests() === 0 ? [] : says)
        await alerts
          .filter({ hasText: text })
          .filter({ hasText: `refused with ${status}` })
          .first()
          .waitFor();
      await page.setViewportSize(phone);
      await expect
        .poll(() => page.evaluate(() => document.documentElement.scrollWidth))
        .toBeLessThanOrEqual(phone.width);
      // On a phone an open span hides the list behind it, and its button.
      await page.setViewportSize(laptop);
      await page.unrouteAll({ behavior: "ignoreErrors" });
      const retry = page.getByRole("button", { name: "Retry" });
      await expect
        .poll(async () => {
          if ((await retry.count()) > 0) await retry.first().click();
          await whole(page);
          return await alerts.count();
        })
        .toBe(0);
      await page.locator(screen.shows).first().waitFor();
    });
  });
}
