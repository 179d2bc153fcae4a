import { createMemoryHistory, RouterProvider } from "@tanstack/react-router";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { router } from "../router.tsx";

async function rendered(path: string): Promise<string> {
  router.update({ ...router.options, history: createMemoryHistory({ initialEntries: [path] }) });
  await router.load();
  return renderToStaticMarkup(<RouterProvider router={router} />);
}

test.each([
  ["/share", true],
  ["/share/", true],
  ["/share/org_1", true],
  ["/share/org_1/", true],
  ["/share/org_1/a/trace", true],
  ["/share/org_1/trace", false],
  ["/invite", true],
  ["/invite/", true],
  ["/invite/token/more", true],
  ["/invite/token", false],
])("%s: a link without a part of its path says that it is incomplete: %j", async (path, isIncomplete) => {
  expect((await rendered(path)).includes("This link is incomplete")).toBe(isIncomplete);
});
