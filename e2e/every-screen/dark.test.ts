import { describe, expect } from "vitest";
import { seriousFindings } from "../support/axe.ts";
import { browserTest } from "../support/browse.ts";
import { screens } from "../support/screens.ts";
import { picture, show } from "../support/show.ts";

describe.each(screens)("$name", (screen) => {
  browserTest("is readable and reachable in the dark theme", async () => {
    const page = await show(screen, { theme: "dark" });
    await picture(page, screen, "dark");
    expect(await seriousFindings(page)).toEqual([]);
  });
});
