import { describe, expect } from "vitest";
import { browserTest } from "../support/browse.ts";
import { screens } from "../support/screens.ts";
import { show } from "../support/show.ts";

describe.each(screens)("$name", (screen) => {
  browserTest("fits the width of a phone", async () => {
    const page = await show(screen, { width: 380 });
    await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(380);
  });
});
