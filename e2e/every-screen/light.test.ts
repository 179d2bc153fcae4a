import { describe, expect } from "vitest";
import { seriousFindings } from "../support/axe.ts";
import { browserTest } from "../support/browse.ts";
import { screens } from "../support/screens.ts";
import { picture, show } from "../support/show.ts";

describe.each(screens)("$name", (screen) => {
  browserTest("is readable and reachable in the light theme", async () => {
    const page = await show(screen, { theme: "light" });
    await picture(page, screen, "light");
    expect(await seriousFindings(page)).toEqual([]);
  });
});
