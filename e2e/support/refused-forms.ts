import type { Page } from "playwright-core";
import { describe, expect } from "vitest";
import { browserTest, open } from "./browse.ts";
import type { Form } from "./form.ts";
import { forms } from "./forms.ts";
import type { Refusal } from "./refused.ts";
import { whole } from "./whole.ts";

/** Requests that change nothing, although their filters are in a body. */
const reads = /\/(?:list|groups|timeseries|summary|facets|test-matches|matches)\//;

function isChange(method: string, url: string): boolean {
  return method !== "GET" && /\/(?:api|v1|automation)\//.test(url) && !reads.test(url);
}

const sendForm = (page: Page, { send }: Form) =>
  typeof send === "function" ? send(page) : page.getByRole("button", { name: send, exact: true }).last().click();

/** Each form when the server refuses its request. */
export function testRefusedForms({ status, code, says }: Refusal): void {
  describe.each(forms)("$name", (form) => {
    browserTest(
      `shows that the server responded with ${status}, keeps the typed text, and can be sent again`,
      async () => {
        const page = await open("/docs", {
          expected: new RegExp(`status of (?:${status}${form.isSignedOut ? "|401" : ""})`),
        });
        const path = typeof form.path === "string" ? form.path : await form.path(page);
        if (form.isSignedOut) await page.context().clearCookies();
        await page.goto(path);
        await page.locator("main").waitFor();
        await whole(page);
        const field = await form.fill?.(page);
        const text = await field?.inputValue();
        await page.route(
          ({ href }) => /\/(?:api|v1|automation)\//.test(href),
          (route) => {
            const request = route.request();
            if (!isChange(request.method(), request.url())) return route.fallback();
            const json = { detail: `refused with ${status}`, code };
            return route.fulfill({ status, headers: { "retry-after": "7" }, json });
          },
        );
        await sendForm(page, form);
        // A notification in the corner has the name of the failed action as its title.
        const notice = page
          .getByRole("alert")
          .or(page.getByRole("status"))
          .filter({ hasText: `refused with ${status}` });
        await notice.first().waitFor();
        const isNote = (await notice.first().getAttribute("role")) === "status";
        for (const word of isNote ? says.slice(1) : says)
          await expect.poll(() => notice.first().innerText()).toContain(word);
        const isInView = () =>
          notice.first().evaluate(
            (element) =>
              new Promise<boolean>((resolve) => {
                new IntersectionObserver(([entry]) => resolve((entry?.intersectionRatio ?? 0) > 0.9)).observe(element);
              }),
          );
        await expect.poll(isInView).toBe(true);
        if (field !== undefined) await expect.poll(() => field.inputValue()).toBe(text);
        await page.unrouteAll({ behavior: "ignoreErrors" });
        if (form.isSentOnce) return;
        const retry = page.getByRole("main").getByRole("button", { name: "Retry" });
        const stored = page.waitForResponse(
          (response) => isChange(response.request().method(), response.url()) && response.ok(),
        );
        await ((await retry.count()) > 0 ? retry.first().click() : sendForm(page, form));
        await stored;
      },
    );
  });
}
