import { testAdmin } from "../../server/test/support/test-app.ts";
import { browserTest, open } from "../support/browse.ts";

browserTest("the API reference sends a request as the signed-in person", async () => {
  // Swagger UI itself warns of its links.
  const page = await open("/docs#/Spans/list_spans", { expected: /deep link/ });
  await page.getByText(`Requests are sent as ${testAdmin.email}`).waitFor();
  await page.getByRole("button", { name: "Execute" }).click();
  const answer = page.locator(".live-responses-table .response").first();
  await answer.locator(".response-col_status", { hasText: /^200/ }).waitFor();
  await answer.getByText('"results"').first().waitFor();
});

browserTest("the API reference lists operations, and accepts a key if nobody is signed in", async () => {
  const page = await open("/docs", { as: null, expected: /401/ });
  await page.getByText("Not signed in: Authorize takes an API key").waitFor();
  await page.locator(".opblock").first().waitFor();
});
