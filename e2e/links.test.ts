import { describe } from "vitest";
import { browserTest, open } from "./support/browse.ts";
import { whole } from "./support/whole.ts";

describe("a link with unknown values", () => {
  for (const [path, shows] of [
    ["/?range=1y&chart=nothing&view=1&by=", "Spans"],
    ["/logs?range=garbage&sort=nothing&cols=,,&tab=none&live=maybe", "Name"],
    ["/logs?from=yesterday&to=tomorrow&tz=mars&env=staging", "Name"],
    ["/traces?range=0d&sort=--", "Duration"],
    ["/threads?range=2w&sort=none", "emma_kim_9957"],
    ["/customers?range=-1d&sort=none&page=-3", "Customers"],
    ["/settings?tab=nothing", "Members"],
  ] as const) {
    browserTest(`shows the screen: ${path}`, async () => {
      const page = await open(path);
      await page.getByRole("main").getByText(shows).first().waitFor();
      await whole(page);
    });
  }
});
