import axe from "axe-core";
import type { Page } from "playwright-core";
import { whole } from "./whole.ts";

/** The serious accessibility findings of axe-core, by element. */
export async function seriousFindings(page: Page): Promise<string[]> {
  // Texts that fade in have low contrast for a moment.
  await whole(page);
  // Evaluated instead of added as a script: the page's policy allows only its own scripts.
  if (await page.evaluate(() => !("axe" in globalThis))) await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: typeof axe }).axe.run({ resultTypes: ["violations"] }),
  );
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}
