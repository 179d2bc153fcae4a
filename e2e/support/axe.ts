import axe from "axe-core";
import type { Page } from "playwright-core";
import { whole } from "./whole.ts";

/** What a screen reader, a keyboard or weak eyes would fail at: the serious findings of axe-core, by element. */
export async function seriousFindings(page: Page): Promise<string[]> {
  // Texts that fade in have the contrast of a moment.
  await whole(page);
  // Evaluated, not added as a script: the page's policy allows no script that is not its own.
  if (await page.evaluate(() => !("axe" in globalThis))) await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: typeof axe }).axe.run({ resultTypes: ["violations"] }),
  );
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}
