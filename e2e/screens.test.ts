import { describe } from "vitest";
import { browserTest } from "./support/browse.ts";
import { screens } from "./support/screens.ts";
import { show } from "./support/show.ts";

describe.each(screens)("$name", (screen) => {
  browserTest("opens with its data", async () => {
    await show(screen);
  });
});
