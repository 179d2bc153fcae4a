import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";

/** Resolves when the page shows no placeholder for content that is still loading, and nothing fades in. */
export async function whole(page: Page): Promise<void> {
  await page.waitForFunction(() => {
    const isDrawn = document.querySelector("[aria-busy=true], .animate-spin, .animate-pulse.bg-raised") === null;
    const isLoading = [...document.querySelectorAll("p")].some(({ textContent }) => /^Loading\b.*…$/.test(textContent));
    const moves = document
      .getAnimations()
      .some(({ playState, effect }) => playState === "running" && effect?.getComputedTiming().endTime !== Infinity);
    return isDrawn && !isLoading && !moves;
  });
}

/**
 * That `nothing` is not there. A page that is not drawn yet shows nothing either: `sign` is what the same answer or the same
 * role brings to the screen.
 */
export async function expectNone(nothing: Locator, sign: Locator): Promise<void> {
  await sign.first().waitFor();
  await whole(nothing.page());
  expect(await nothing.count()).toBe(0);
}

/** For what must not happen: it has no sign to wait for. */
export const pause = (page: Page, ms: number): Promise<void> => page.waitForTimeout(ms);
