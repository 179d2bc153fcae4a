import { expect } from "vitest";
import type { Page } from "playwright-core";
import { testKeys } from "../../server/test/support/test-app.ts";
import { browserTest, open } from "../support/browse.ts";
import { newViewer } from "../support/people.ts";
import { unique } from "../support/unique.ts";
import { expectNone } from "../support/whole.ts";

const asKey = { authorization: `Bearer ${testKeys.prod}` };

async function makeLog(page: Page, log: object): Promise<string> {
  const answer = await page.request.post("/api/request-logs/", { headers: asKey, data: log });
  expect(answer.status()).toBe(201);
  return ((await answer.json()) as { unique_id: string }).unique_id;
}

async function makeEvaluator(page: Page, slug: string): Promise<void> {
  const data = { name: slug, evaluator_slug: slug, type: "human", score_value_type: "numerical" };
  const answer = await page.request.post("/api/evaluators/", { headers: asKey, data });
  expect(answer.status()).toBe(201);
}

browserTest("an evaluator is written, tried on a log, saved as a version and deleted", async () => {
  const page = await open("/evaluation");
  const slug = unique("names-the-city");
  const log = await makeLog(page, { input: "Which city?", output: "Canberra." });
  await page.getByRole("button", { name: "New evaluator" }).click();
  await page.getByLabel("Name").fill("Names the city");
  await page.getByLabel("Slug").fill(slug);
  await page.getByLabel("Texts").fill("sydney");
  await page.getByLabel("Passing score").selectOption("equals");
  await page.getByLabel("Its id").fill(log);
  await page.getByRole("region", { name: "Output" }).getByText("Canberra.").waitFor();
  await page.getByRole("button", { name: "Save and try" }).click();
  const score = page.getByRole("region", { name: "Score", exact: true });
  await score.getByText("not passed").waitFor();
  await score.getByText("false", { exact: true }).waitFor();
  await page.waitForURL(/evaluator=(?!new)/);

  await page.getByLabel("Texts").fill("sydney\ncanberra");
  await page.getByRole("button", { name: "Save and try" }).click();
  await score.getByText("true", { exact: true }).waitFor();
  await page.getByLabel("What the new version is").fill("two cities");
  await page.getByRole("button", { name: "Keep as a version" }).click();
  await page.getByRole("table", { name: "Versions" }).getByText("two cities").waitFor();
  await page.getByLabel("Texts").fill("perth");
  await page.getByRole("button", { name: "Show version 1 in the form" }).click();
  await expect.poll(() => page.getByLabel("Texts").inputValue()).toBe("sydney\ncanberra");

  const stored = await page.request.get(`/api/evaluators/${slug}/`, { headers: asKey });
  expect(await stored.json()).toMatchObject({
    rule_config: { rule: "contains", text: ["sydney", "canberra"] },
    passing_conditions: { primary_score: { value: true } },
  });
  await page.getByRole("button", { name: "Delete the evaluator" }).click();
  await page.getByRole("button", { name: "Delete evaluator", exact: true }).click();
  await page.waitForURL(/\/evaluation$/);
  const deleted = await page.request.get(`/api/evaluators/${slug}/`, { headers: asKey });
  expect(deleted.status()).toBe(404);
});

browserTest("an error of the server is shown at its field", async () => {
  const page = await open("/evaluation?evaluator=new", { expected: /400/ });
  await page.getByLabel("Name").fill("Broken");
  await page.getByLabel("Scored by").selectOption("code");
  await page.getByLabel("JavaScript").fill("function main( {");
  await page.getByRole("button", { name: "Create evaluator" }).click();
  await page.getByLabel("JavaScript").and(page.locator("[aria-invalid=true]")).waitFor();
});

browserTest("scores are shown over time, and lead to their logs", async () => {
  const page = await open("/evaluation?tab=scores");
  const [slug, name] = [unique("manual-quality"), unique("the-scored-log")];
  await makeEvaluator(page, slug);
  const log = await makeLog(page, { input: "Scored?", output: "Yes.", span_name: name });
  const scored = await page.request.post(`/api/logs/${log}/scores/`, {
    headers: asKey,
    data: { evaluator_slug: slug, numerical_value: 0.75 },
  });
  expect(scored.status()).toBe(201);
  await page.reload();
  const chart = page.getByRole("region", { name: slug, exact: true });
  await chart.getByText("0.75").first().waitFor();
  await chart.getByRole("link", { name: "Logs with a score" }).click();
  await page.waitForURL((url) => url.pathname === "/logs" && url.search.includes(slug));
  await page.getByText(name).first().waitFor();
});

browserTest("a viewer reads evaluators and edits nothing", async () => {
  const admin = await open("/evaluation");
  const slug = unique("seen-by-viewers");
  await makeEvaluator(admin, slug);
  const viewer = await newViewer(admin);
  const page = await open("/evaluation", { as: viewer });
  await page.getByRole("link", { name: slug }).click();
  await expectNone(
    page.getByRole("button", { name: /Save|Create|Delete|Try|Keep|New/ }),
    page.getByText("No versions yet."),
  );
  await expect.poll(() => page.getByLabel("Name").isDisabled()).toBe(true);
});
