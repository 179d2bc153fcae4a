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
 * Checks that `nothing` is absent. A page that is not drawn yet shows nothing either: `sign` is an element that the same response or the
 * same role shows.
 */
export async function expectNone(nothing: Locator, sign: Locator): Promise<void> {
  await sign.first().waitFor();
  await whole(nothing.page());
  expect(await nothing.count()).toBe(0);
}

/** For events that must not happen: there is no element to wait for. */
export const pause = (page: Page, ms: number): Promise<void> => page.waitForTimeout(ms);
