import { describe, expect } from "vitest";
import { browserTest, open } from "./support/browse.ts";
import { screens } from "./support/screens.ts";
import { show } from "./support/show.ts";

describe.each(screens)("$name", (screen) => {
  browserTest("opens with its data", async () => {
    await show(screen);
  });
});

browserTest("an address without a page keeps the navigation", async () => {
  const page = await open("/no-such-page");
  await page.getByText("There is no such page").waitFor();
  await page.getByRole("link", { name: "Traces" }).click();
  await page.getByRole("grid", { name: "Traces" }).waitFor();
});

browserTest("the palette switches the theme", async () => {
  const page = await open("/settings");
  await page.getByRole("main").waitFor();
  const theme = () => page.evaluate(() => document.documentElement.dataset["theme"]);
  for (const [typed, expected] of [
    ["dark", "dark"],
    ["light", "light"],
    ["system theme", undefined],
  ] as const) {
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Screen or id" }).fill(typed);
    await page.keyboard.press("Enter");
    await expect.poll(theme).toBe(expected);
  }
});
