import { expect } from "vitest";
import type { Locator, Page } from "playwright-core";
import { testKeys } from "../../server/test/support/test-app.ts";
import { seriousFindings } from "../support/axe.ts";
import { browserTest, open } from "../support/browse.ts";
import { newViewer } from "../support/people.ts";
import { unique } from "../support/unique.ts";

const asKey = { authorization: `Bearer ${testKeys.prod}` };

async function make(page: Page, path: string, data: object): Promise<Record<string, unknown>> {
  const answer = await page.request.post(path, { headers: asKey, data });
  expect(answer.status(), await answer.text()).toBe(201);
  return (await answer.json()) as Record<string, unknown>;
}

async function makeLog(page: Page, name: string, output: string): Promise<string> {
  const log = { log_type: "chat", span_name: name, input: "Where is my bag?", output };
  return String((await make(page, "/api/request-logs/", log))["unique_id"]);
}

/** Scores of one evaluator: automations of other tests may score the log too. */
const scoresOf = async (page: Page, id: string, evaluator: string): Promise<unknown> => {
  const answer = await page.request.get(`/api/logs/${id}/scores/`, { headers: asKey });
  const { results } = (await answer.json()) as { results: Array<{ evaluator_id: string; evaluator_slug: string }> };
  return results.filter((score) => [score.evaluator_id, score.evaluator_slug].includes(evaluator));
};

browserTest("an engineer compares bad answers side by side, adds notes and scores them in 10 clicks", async () => {
  const page = await open("/");
  const kindness = unique("kindness");
  await make(page, "/api/evaluators/", {
    name: kindness,
    evaluator_slug: kindness,
    type: "human",
    score_value_type: "numerical",
    score_config: { min_score: 0, max_score: 5 },
    passing_conditions: { primary_score: { operator: "gte", value: 3 } },
  });
  const answers = [
    ["rude answer", "Gone.", 0],
    ["curt answer", "Ask at the desk.", 2],
    ["kind answer", "We will bring it to you.", 4],
  ] as const;
  const ids: string[] = [];
  for (const [name, output, value] of answers) {
    const id = await makeLog(page, name, output);
    ids.push(id);
    await make(page, `/api/logs/${id}/scores/`, { evaluator_slug: kindness, numerical_value: value });
  }
  let clicks = 0;
  const click = async (target: Locator): Promise<void> => {
    await target.click();
    clicks += 1;
  };

  await click(page.getByRole("link", { name: "Evaluation" }));
  await click(page.getByRole("tab", { name: "Scores over time" }));
  const chart = page.getByRole("region", { name: kindness, exact: true });
  await click(chart.getByRole("link", { name: "Not passed" }));
  const rows = page.locator("[role=grid] [role=row]:has([role=gridcell])");
  await expect.poll(() => rows.count()).toBe(2);
  await click(page.getByRole("checkbox", { name: "Select this span" }).nth(0));
  await click(page.getByRole("checkbox", { name: "Select this span" }).nth(1));
  await click(page.getByRole("button", { name: "Side by side" }));

  const [worst, second] = ids.slice(0, 2).map((id) => page.getByRole("region", { name: `Span ${id}` }));
  await worst!.getByText("Gone.").first().waitFor();
  await second!.getByText("Ask at the desk.").first().waitFor();
  await worst!.getByLabel("Note").fill("The desk has to say where.");
  await click(worst!.getByRole("button", { name: "Save note" }));
  await worst!.getByRole("button", { name: "Save note" }).waitFor({ state: "detached" });
  await worst!.getByText(kindness).hover();
  await click(worst!.getByRole("button", { name: `Change the score of ${kindness}` }));
  await worst!.getByLabel("Value").fill("3");
  await worst!.getByLabel("Explanation").fill("Read again.");
  await click(worst!.getByRole("button", { name: "Save score" }));
  await worst!.getByText("Read again.").waitFor();
  await expect
    .poll(() => scoresOf(page, ids[0]!, kindness))
    .toMatchObject([
      { numerical_value: 3, is_passed: true, explanation: "Read again.", scorer: expect.stringContaining("@") },
    ]);
  const read = async (): Promise<unknown> =>
    (await page.request.get(`/api/request-logs/${ids[0]!}/`, { headers: asKey })).json();
  await expect.poll(read).toMatchObject({ note: "The desk has to say where." });
  await click(page.getByRole("link", { name: "Scores over time" }));
  // The average of 3, 2 and 4.
  await chart.getByText("3", { exact: true }).first().waitFor();
  expect(clicks).toBe(10);
});

browserTest("an improved evaluator scores a log again, or shows in place why it cannot", async () => {
  const page = await open("/", { expected: /404/ });
  const name = unique("Names the desk");
  const { id: evaluator } = await make(page, "/api/evaluators/", {
    name,
    type: "rule",
    score_value_type: "boolean",
    rule_config: { rule: "contains", text: "Desk" },
  });
  const id = await makeLog(page, "scored again", "Ask at the desk.");
  await make(page, `/api/logs/${id}/scores/`, { evaluator_id: evaluator, boolean_value: false });
  await page.request.patch(`/api/evaluators/${String(evaluator)}/`, {
    headers: asKey,
    data: { rule_config: { rule: "contains", text: "desk" } },
  });
  await page.goto(`/compare?spans=${id}`);
  const span = page.getByRole("region", { name: `Span ${id}` });
  await span.getByText(name).hover();
  await span.getByRole("button", { name: `Score again with ${name}` }).click();
  await span.getByText("true", { exact: true }).first().waitFor();
  await expect
    .poll(() => scoresOf(page, id, String(evaluator)))
    .toMatchObject([{ boolean_value: true, evaluator_id: evaluator }]);
  await page.request.delete(`/api/evaluators/${String(evaluator)}/`, { headers: asKey });
  await span.getByText(name).hover();
  await span.getByRole("button", { name: `Score again with ${name}` }).click();
  await span.getByRole("alert").waitFor();
  expect(await scoresOf(page, id, String(evaluator))).toMatchObject([{ boolean_value: true }]);
});

browserTest(
  "spans side by side are readable in both themes and on a phone, and a viewer edits none of them",
  async () => {
    const admin = await open("/");
    const ids = [await makeLog(admin, "left", "Left."), await makeLog(admin, "right", "Right.")];
    const viewer = await newViewer(admin);
    const page = await open(`/compare?spans=${ids.join(",")}`, { as: viewer });
    await page.getByText("Right.").first().waitFor();
    await expect.poll(() => page.getByLabel("Note").first().isDisabled()).toBe(true);
    await expect.poll(() => page.getByRole("button", { name: "Add a score" }).first().isDisabled()).toBe(true);
    for (const colorScheme of ["light", "dark"] as const) {
      await admin.emulateMedia({ colorScheme });
      await admin.goto(`/compare?spans=${ids.join(",")}`);
      await admin.getByText("Right.").first().waitFor();
      expect(await seriousFindings(admin)).toEqual([]);
    }
    await admin.setViewportSize({ width: 380, height: 800 });
    await expect.poll(() => admin.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(380);
  },
);

browserTest("if scores of many spans are refused halfway, the next attempt adds the rest", async () => {
  const page = await open("/logs", { expected: /429/ });
  const [kindness, customer] = [unique("a-kindness"), unique("halfway")];
  await make(page, "/api/evaluators/", {
    name: kindness,
    evaluator_slug: kindness,
    type: "human",
    score_value_type: "boolean",
  });
  const ids: string[] = [];
  for (const output of ["one", "two", "three"]) {
    const log = { log_type: "chat", customer_identifier: customer, output };
    ids.push(String((await make(page, "/api/request-logs/", log))["unique_id"]));
  }
  await page.goto(`/logs?range=1h&q=customer:${customer}`);
  const boxes = page.getByRole("checkbox", { name: "Select this span" });
  await expect.poll(() => boxes.count()).toBe(3);
  await page.getByRole("checkbox", { name: "Select all loaded spans" }).click();
  await page.getByRole("button", { name: "Score" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Evaluator").selectOption({ label: kindness });
  await dialog.getByLabel("Value").fill("true");
  let requests = 0;
  await page.route("**/api/scores/", (route) => {
    requests += 1;
    const json = { detail: "Too many scores.", code: "rate_limited" };
    return requests === 2 ? route.fulfill({ status: 429, json }) : route.fallback();
  });
  await dialog.getByRole("button", { name: "Score" }).click();
  await page.getByRole("alert").filter({ hasText: "Too many scores." }).waitFor();
  await expect.poll(() => dialog.getByLabel("Value").inputValue()).toBe("true");
  await page.getByRole("button", { name: "Retry" }).click();
  await page.getByText("3 saved").waitFor();
  for (const id of ids) expect(await scoresOf(page, id, kindness)).toHaveLength(1);
});
