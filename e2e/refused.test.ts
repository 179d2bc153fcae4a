import { describe, expect } from "vitest";
import { browserTest, open } from "./support/browse.ts";
import { screens } from "./support/screens.ts";
import { whole } from "./support/whole.ts";

const refusals = [
  { status: 413, code: "too_large", says: "This is too large" },
  { status: 429, code: "rate_limited", says: "Too many requests" },
];

/** Who is signed in is known before: without it there is no screen. */
const isOfSession = (url: string): boolean => new URL(url).pathname === "/api/auth/me/";

/** Dialogs that the reload of the page closes, or that stand before their screen. */
const dialogs = new Set(["new credential", "try a provider"]);

describe.each(screens.filter(({ name }) => !dialogs.has(name)))("$name", ({ path, click, shows }) => {
  browserTest("says in each panel what the server refuses, and goes on when it does not any more", async () => {
    const page = await open("about:blank", { expected: /status of 4(?:13|29)/ });
    if (click !== undefined) {
      // Its address has an id of the demo's data.
      await page.goto(path);
      await page.locator(click).click();
      await page.locator(shows).first().waitFor();
      await whole(page);
    }
    const address = click === undefined ? path : page.url();
    const main = page.getByRole("main");
    const alerts = page.getByRole("alert");
    for (const { status, code, says } of refusals) {
      await page.unrouteAll({ behavior: "ignoreErrors" });
      let asked = 0;
      await page.route(/\/(?:api|v1|automation)\//, (route) => {
        if (isOfSession(route.request().url())) return route.continue();
        asked += 1;
        const json = { detail: `refused with ${status}`, code, request_id: "req-of-the-test" };
        return route.fulfill({ status, headers: { "retry-after": "7" }, json });
      });
      await page.goto(address);
      await main.waitFor();
      await whole(page);
      if (asked === 0) continue;
      await alerts
        .filter({ hasText: says })
        .filter({ hasText: `refused with ${status}` })
        .first()
        .waitFor();
      if (status === 429) await alerts.filter({ hasText: "Try again in 7 s." }).first().waitFor();
    }
    await page.unrouteAll({ behavior: "ignoreErrors" });
    const retry = page.getByRole("button", { name: "Retry" });
    await expect
      .poll(async () => {
        if ((await retry.count()) > 0) await retry.first().click();
        await whole(page);
        return await alerts.count();
      })
      .toBe(0);
    await page.locator(shows).first().waitFor();
  });
});
