import { expect, onTestFinished } from "vitest";
import type { Page } from "playwright-core";
import { startModel } from "../../scripts/demo-judge/model.ts";
import { newDataDir, startServerProcess } from "../../server/test/support/server-process.ts";
import { testAdmin, testKeys } from "../../server/test/support/test-app.ts";
import { browserTest, open } from "../support/browse.ts";
import { newViewer } from "../support/people.ts";
import { unique } from "../support/unique.ts";
import { expectNone, whole } from "../support/whole.ts";

const asKey = { authorization: `Bearer ${testKeys.prod}` };

async function make(page: Page, path: string, data: object): Promise<Record<string, unknown>> {
  const answer = await page.request.post(path, { headers: asKey, data });
  expect(answer.status(), await answer.text()).toBe(201);
  return (await answer.json()) as Record<string, unknown>;
}

const makeLog = (page: Page, feature: string, output: string, more: object = {}) =>
  make(page, "/api/request-logs/", { input: "Which city?", output, metadata: { feature }, ...more });

/** Without `policy` it matches no log: logs of other tests arrive at any time. */
const makeCondition = (
  page: Page,
  slug: string,
  policy: object = { rules: [{ field: "metadata.feature", operator: "equals", value: slug }] },
) =>
  make(page, "/automation/conditions/", {
    name: slug,
    condition_slug: slug,
    condition_type: "single_log",
    condition_policy: policy,
  });

const makeRule = (page: Page, slug: string) =>
  make(page, "/api/evaluators/", {
    name: slug,
    evaluator_slug: slug,
    type: "rule",
    score_value_type: "boolean",
    rule_config: { rule: "contains", text: "Canberra" },
  });

const makeAutomation = (page: Page, slug: string, condition: string, evaluator: string) =>
  make(page, "/automation/automations/", {
    name: slug,
    automation_slug: slug,
    automation_type: "online_eval",
    condition,
    evaluator_ids: [evaluator],
    configuration: { sampling_rate: 1 },
    is_enabled: true,
  });

browserTest(
  "a condition is a typed query with a preview, and an automation scores the logs that match it",
  async () => {
    const page = await open("/evaluation?tab=conditions");
    const [quiz, condition, rule] = [unique("quiz"), unique("cities"), unique("mentions-canberra")];
    await makeLog(page, quiz, "Sydney.");
    await makeRule(page, rule);
    await page.getByRole("button", { name: "New condition" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill(condition);
    await page.getByRole("combobox", { name: "Query" }).pressSequentially(`metadata.feature:${quiz} code<400`);
    await page.getByText("1 log of this range matches").waitFor();
    await page.getByRole("button", { name: "Create condition" }).click();
    await page.waitForURL(/condition=(?!new)/);
    const stored = await page.request.get(`/automation/conditions/${condition}/`, { headers: asKey });
    expect(await stored.json()).toMatchObject({
      condition_policy: {
        connector: "AND",
        rules: [
          { field: "metadata.feature", operator: "equals", value: quiz },
          { field: "status_code", operator: "less_than", value: 400 },
        ],
      },
    });
    await page.reload();
    const typed = page.getByRole("combobox", { name: "Query" });
    await expect.poll(() => typed.inputValue()).toBe(`metadata.feature:${quiz} code<400`);

    await page.getByRole("tab", { name: "Automations" }).click();
    await page.getByRole("button", { name: "New automation" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill(unique("Judge the cities"));
    await page.getByRole("button", { name: "Create automation" }).click();
    await page.getByText("Choose at least one evaluator.").waitFor();
    await page.getByLabel("Condition").selectOption({ label: condition });
    await page.getByText("1 log of this range matches").waitFor();
    await page.getByLabel(rule).check();
    await page.getByRole("button", { name: "Create automation" }).click();
    await page.getByText("They come with the next matching logs.").waitFor();

    const { unique_id: id } = await makeLog(page, quiz, "Canberra.");
    const scores = page.getByRole("table", { name: "Scores of this automation" });
    await expect
      .poll(async () => {
        await page.getByRole("button", { name: "Reload" }).click();
        return scores.getByText("true").count();
      })
      .toBe(1);
    await scores.getByRole("link").first().click();
    await page.waitForURL(new RegExp(`/spans/${String(id)}`));
    await page.getByText(rule).first().waitFor();
  },
);

browserTest("an automation is edited, turned off and on, and deleted", async () => {
  const page = await open("/evaluation?tab=automations");
  const [condition, evaluator, automation] = [unique("condition"), unique("evaluator"), unique("automation")];
  await makeCondition(page, condition);
  await makeRule(page, evaluator);
  const { id } = await makeAutomation(page, automation, condition, evaluator);
  const stored = async () => {
    const answer = await page.request.get(`/automation/automations/${String(id)}/`, { headers: asKey });
    return (await answer.json()) as { is_enabled: boolean; configuration: object };
  };
  await page.reload();
  await page.getByRole("button", { name: `Turn off ${automation}` }).click();
  await page.getByRole("button", { name: `Turn on ${automation}` }).waitFor();
  await expect.poll(stored).toMatchObject({ is_enabled: false });
  await page.getByRole("link", { name: automation }).click();
  await page.getByLabel("Sample").fill("7");
  await page.getByLabel("Daily budget").fill("2.5");
  await page.getByLabel("On: logs").check();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Automation saved").waitFor();
  await expect
    .poll(stored)
    .toMatchObject({ is_enabled: true, configuration: { sampling_rate: 0.07, daily_budget: 2.5 } });
  await page.getByLabel("Daily budget").fill("");
  await page.getByRole("button", { name: "Save" }).click();
  await expect.poll(async () => (await stored()).configuration).not.toHaveProperty("daily_budget");
  await page.getByRole("button", { name: "Delete the automation" }).click();
  await page.getByRole("button", { name: "Delete automation", exact: true }).click();
  await page.waitForURL(/tab=automations$/);
  await page.getByRole("link", { name: automation }).waitFor({ state: "detached" });
});

browserTest("a condition in use says which automations use it, and is deleted when none does", async () => {
  const page = await open("/evaluation?tab=conditions", { expected: /409/ });
  const [evaluator, condition, automation] = [unique("evaluator"), unique("condition"), unique("automation")];
  await makeRule(page, evaluator);
  await makeCondition(page, condition);
  await page.reload();
  await page.getByRole("link", { name: condition }).click();
  await page.getByRole("main").getByText("nothing", { exact: true }).waitFor();
  // The page does not know this automation yet.
  const { id } = await makeAutomation(page, automation, condition, evaluator);
  await page.getByRole("button", { name: "Delete the condition" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Delete condition" }).click();
  await dialog.getByText(`Automations use this condition: ${automation}.`).waitFor();
  await page.reload();
  await page.getByRole("main").getByRole("link", { name: automation }).waitFor();
  await page.getByRole("button", { name: "Delete the condition" }).click();
  await dialog.getByText("This condition is in use").waitFor();
  await expectNone(dialog.getByRole("button", { name: /Delete/ }), dialog.getByRole("link", { name: automation }));
  await page.request.delete(`/automation/automations/${String(id)}/`, { headers: asKey });
  await page.reload();
  await page.getByRole("button", { name: "Delete the condition" }).click();
  await dialog.getByRole("button", { name: "Delete condition" }).click();
  await page.waitForURL(/tab=conditions$/);
  await page.getByRole("link", { name: condition }).waitFor({ state: "detached" });
});

browserTest(
  "errors of a condition are shown at its fields, and rules that are not a query stay unchanged",
  async () => {
    const page = await open("/evaluation?tab=conditions&condition=new", { expected: /400/ });
    await page.getByRole("textbox", { name: "Name" }).fill("Scored");
    await page.getByRole("combobox", { name: "Query" }).fill("score.length>3");
    await page.getByRole("button", { name: "Create condition" }).click();
    await page
      .getByRole("alert")
      .filter({ hasText: "does not exist yet when conditions are judged" })
      .first()
      .waitFor();

    const [slug, feature] = [unique("either"), unique("feature")];
    const rules = [
      { field: "model", operator: "equals", value: unique("model") },
      { field: "metadata.feature", operator: "equals", value: feature },
    ];
    const { id } = await makeCondition(page, slug, { rules, connector: "OR" });
    await makeLog(page, feature, "Yes.");
    await page.goto(`/evaluation?tab=conditions&condition=${String(id)}`);
    await page.getByText("1 log of this range matches").waitFor();
    await page.getByRole("textbox", { name: "Name" }).fill("Either of two");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Condition saved").waitFor();
    const stored = await page.request.get(`/automation/conditions/${slug}/`, { headers: asKey });
    expect(await stored.json()).toMatchObject({ name: "Either of two", condition_policy: { connector: "OR", rules } });
  },
);

browserTest("a refused change shows the reason in place, and keeps the typed text", async () => {
  const page = await open("/evaluation?tab=automations", { expected: /status of (?:403|409|413|429)/ });
  const [condition, evaluator] = [unique("condition"), unique("evaluator")];
  await makeCondition(page, condition);
  await makeRule(page, evaluator);
  const { id } = await makeAutomation(page, unique("refused"), condition, evaluator);
  await page.goto(`/evaluation?tab=automations&automation=${String(id)}`);
  await page.getByLabel("Name", { exact: true }).fill("Typed once");
  for (const [status, shown] of [
    [403, "Your role does not permit this"],
    [409, "The request was refused"],
    [413, "This is too large"],
    [429, "Try again in 7 s."],
  ] as const) {
    await page.route(`**/automation/automations/${String(id)}/`, (route) =>
      route.request().method() === "PATCH"
        ? route.fulfill({ status, headers: { "retry-after": "7" }, json: { detail: `refused with ${status}` } })
        : route.continue(),
    );
    await page.getByRole("button", { name: "Save" }).click();
    await page
      .getByRole("alert")
      .filter({ hasText: shown })
      .filter({ hasText: `refused with ${status}` })
      .waitFor();
    await page.unroute(`**/automation/automations/${String(id)}/`);
  }
  await expect.poll(() => page.getByLabel("Name", { exact: true }).inputValue()).toBe("Typed once");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Automation saved").waitFor();
});

browserTest("text in a condition's form survives the end of the session", async () => {
  const page = await open("/evaluation?tab=conditions&condition=new", { expected: /401/ });
  await page.getByRole("textbox", { name: "Name" }).fill(unique("Typed before the end"));
  await page.getByRole("combobox", { name: "Query" }).fill("model:gpt-4o");
  // Wait for the preview: otherwise its next request is refused before the click on the button.
  await page.locator("a[href*='gpt-4o']", { hasText: "Open in Logs" }).waitFor();
  await whole(page);
  await page.context().clearCookies();
  await page.getByRole("button", { name: "Create condition" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("E-mail").fill(testAdmin.email);
  await dialog.getByLabel("Password").fill(testAdmin.password);
  await dialog.getByRole("button", { name: "Sign in" }).click();
  await dialog.waitFor({ state: "detached" });
  await expect.poll(() => page.getByRole("combobox", { name: "Query" }).inputValue()).toBe("model:gpt-4o");
  await page.getByRole("button", { name: "Create condition" }).click();
  await page.waitForURL(/condition=(?!new)/);
});

browserTest("a viewer reads conditions and automations and edits nothing", async () => {
  const admin = await open("/evaluation");
  const [condition, evaluator, automation] = [unique("condition"), unique("evaluator"), unique("automation")];
  const { id } = await makeCondition(admin, condition);
  await makeRule(admin, evaluator);
  await makeAutomation(admin, automation, condition, evaluator);
  const viewer = await newViewer(admin);
  const page = await open(`/evaluation?tab=conditions&condition=${String(id)}`, { as: viewer });
  const main = page.getByRole("main");
  const link = page.getByRole("link", { name: automation });
  const edits = main.getByRole("button", { name: /Save|Create|Delete|New|Turn|Clear/ });
  await expectNone(edits, link);
  await expect.poll(() => page.getByRole("combobox", { name: "Query" }).isDisabled()).toBe(true);
  await link.click();
  await expectNone(edits, page.getByText("They come with the next matching logs."));
  await expect.poll(() => page.getByLabel("Sample").isDisabled()).toBe(true);
  await page.getByRole("link", { name: "All automations" }).click();
  await expectNone(edits, page.getByRole("table", { name: "Automations" }).getByText(automation));
  await page.getByRole("tab", { name: "Evaluators" }).click();
  await page.getByRole("link", { name: evaluator }).click();
  await link.waitFor();
});

browserTest("a model judge is created, tried on a log, and scores new spans, with its reason and cost", async () => {
  const model = await startModel();
  const folder = newDataDir();
  const server = await startServerProcess(folder.path, { SPANWAY_ALLOW_PRIVATE_UPSTREAMS: "127.0.0.1" });
  onTestFinished(async () => {
    await server.kill("SIGTERM");
    await folder.remove();
    model.close();
  });
  const page = await open("/evaluation?evaluator=new", { url: server.url });
  await make(page, "/api/providers/", { provider: "fake", base_url: model.url, api_key: "sk-fake" });
  const { unique_id: id } = await makeLog(page, "help", "Ask for a refund.");
  await page.reload();
  await page.getByRole("textbox", { name: "Name" }).fill("Politeness");
  await page.getByLabel("Scored by").selectOption("llm");
  await page.getByLabel("Score is").selectOption("numerical");
  await page.getByLabel("Model", { exact: true }).fill("fake/judge");
  await page.getByLabel("Prompt").fill("The answer was: {{output}}\n\nHow polite is it, from 1 to 5?");
  await page.getByLabel("Smallest score").fill("1");
  await page.getByLabel("Largest score").fill("5");
  await page.getByLabel("Passing score").selectOption("gte");
  await page.getByLabel("Value that passes").fill("3");
  await page.getByLabel("Its id").fill(String(id));
  await page.getByRole("button", { name: "Save and try" }).click();
  const score = page.getByRole("region", { name: "Score", exact: true });
  await score.getByText("2", { exact: true }).waitFor();
  await score.getByText("not passed").waitFor();
  await score.getByText("neither apologizes").waitFor();

  await makeCondition(page, "help", { rules: [{ field: "metadata.feature", operator: "equals", value: "help" }] });
  const evaluator = new URL(page.url()).searchParams.get("evaluator") ?? "";
  const { id: automation } = await makeAutomation(page, "judge-help", "help", evaluator);
  await makeLog(page, "help", "No.");
  await page.goto(`/evaluation?tab=automations&automation=${String(automation)}`);
  const scores = page.getByRole("table", { name: "Scores of this automation" });
  await expect
    .poll(async () => {
      await page.getByRole("button", { name: "Reload" }).click();
      return scores.getByText("neither apologizes").count();
    })
    .toBe(1);
  await page.goto("/evaluation?tab=scores");
  await page.getByRole("region", { name: "Politeness", exact: true }).getByText("2", { exact: true }).first().waitFor();
});

browserTest("the page of an automation shows a new score when it arrives", async () => {
  const page = await open("/evaluation");
  const [feature, condition, rule, automation] = [
    unique("live"),
    unique("all-live"),
    unique("names-it"),
    unique("live"),
  ];
  await makeCondition(page, condition, { rules: [{ field: "metadata.feature", operator: "equals", value: feature }] });
  await makeRule(page, rule);
  const { id } = await makeAutomation(page, automation, condition, rule);
  await page.goto(`/evaluation?tab=automations&automation=${String(id)}`);
  await page.getByText("No scores yet").waitFor();
  await makeLog(page, feature, "Canberra.");
  const scores = page.getByRole("table", { name: "Scores of this automation" });
  await scores.getByRole("row").filter({ hasText: rule }).waitFor();
});
