import { expect, test } from "vitest";
import { automationDraftOf, readAutomationDraft } from "./automation-draft.ts";
import type { Automation } from "./automation-queries.ts";
import { readConditionDraft, conditionDraftOf } from "./condition-draft.ts";
import { draftOf, readDraft } from "./draft.ts";

const stored = {
  name: "Judge",
  automation_slug: "judge",
  condition: { id: "c" },
  evaluator_ids: ["e"],
  is_enabled: false,
  configuration: { evaluator_ids: ["e"], sampling_rate: 0.07, daily_budget: 2 },
} as unknown as Automation;

test("an unedited automation is sent back unchanged; its sampling share is edited in percent", () => {
  const draft = automationDraftOf(stored);
  expect(draft).toMatchObject({ sampling: "7", budget: "2" });
  expect(readAutomationDraft(draft)).toEqual({
    ok: true,
    body: {
      name: "Judge",
      condition: "c",
      evaluator_ids: ["e"],
      is_enabled: false,
      configuration: { sampling_rate: 0.07, daily_budget: 2 },
    },
  });
  const freed = readAutomationDraft({ ...draft, budget: "" });
  expect(freed).toHaveProperty("body.configuration.daily_budget", null);
});

test.each([
  ["configuration.sampling_rate", { sampling: "" }],
  ["configuration.sampling_rate", { sampling: "101" }],
  ["configuration.daily_budget", { budget: "much" }],
  ["condition", { condition: "" }],
  ["evaluator_ids", { evaluators: [] }],
] as const)("reports a problem with %s", (name, change) => {
  const read = readAutomationDraft({ ...automationDraftOf(stored), ...change });
  expect(read).toHaveProperty(["problems", name]);
});

test("a new record takes its slug from its name", () => {
  const draft = { ...conditionDraftOf(undefined), name: "Ärger & Lob, 2026!" };
  expect(readConditionDraft(draft)).toHaveProperty("body.condition_slug", "arger-lob-2026");
  const evaluator = { ...draftOf(undefined), name: draft.name, texts: "x" };
  expect(readDraft(evaluator)).toHaveProperty("body.evaluator_slug", "arger-lob-2026");
  const automation = { ...automationDraftOf(stored), base: undefined, name: draft.name, slug: "" };
  expect(readAutomationDraft(automation)).toHaveProperty("body.automation_slug", "arger-lob-2026");
});
