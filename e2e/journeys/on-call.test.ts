import { expect } from "vitest";
import { browserTest, open } from "../support/browse.ts";

browserTest("an on-call engineer gets from the overview to the failing span in two clicks", async () => {
  const page = await open("/?range=30d");
  const errors = page.getByRole("region", { name: "Errors", exact: true }).last();
  await errors
    .getByRole("link", { name: /find policy/ })
    .first()
    .click();
  await page.waitForURL(/\/logs/);
  await page.locator("[role=grid] [role=row]:has([role=gridcell])").first().click();
  const span = page.getByRole("region", { name: "Span", exact: true });
  await span.getByText("The policy index did not answer within 5 s.").first().waitFor();
  expect(new URL(page.url()).searchParams.get("q")).toContain("find policy");
});
