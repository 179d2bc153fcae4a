import { expect, test } from "vitest";
import type { ListAnswer, Row } from "../../server/test/support/test-client.ts";
import { runClient } from "../support/run-client.ts";

/** Scores reach Spanway before their spans. */
test("S12: Langfuse's SDK with its own paths, and scores", async () => {
  const run = await runClient("langfuse.ts");
  expect(run.output).toBe("");
  expect(run.trees).toEqual(["answer(ask)"]);
  const [root, call] = ["answer", "ask"].map((name) => run.rows.find((row) => row["span_name"] === name));
  for (const row of [root, call]) {
    expect(row).toMatchObject({ customer_identifier: "user-42", thread_identifier: "sess-1" });
  }
  expect(call).toMatchObject({ log_type: "chat", model: "gpt-4o-mini", total_tokens: 74 });
  const scoresOf = async (row: Row | undefined) => {
    const answer = await run.prod.get(`/api/logs/${String(row?.["unique_id"])}/scores/`);
    return (answer.json as ListAnswer).results.toSorted((a, b) =>
      String(a["evaluator_slug"]) < String(b["evaluator_slug"]) ? -1 : 1,
    );
  };
  expect(await scoresOf(root)).toMatchObject([
    { evaluator_slug: "quality", numerical_value: 0.9, explanation: "It answers." },
  ]);
  expect(await scoresOf(call)).toMatchObject([
    { evaluator_slug: "brevity", boolean_value: true },
    { evaluator_slug: "tone", string_value: "friendly" },
  ]);
});
