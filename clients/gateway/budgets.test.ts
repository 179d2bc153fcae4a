import { expect, test } from "vitest";
import type { Row } from "../../server/test/support/test-client.ts";
import { openai } from "./expected.ts";
import { runGatewayClient } from "./run-gateway-client.ts";

const costUsd = (openai.counted.cost ?? 0) / 1e6;
/** Covers the highest cost of two calls, with one token counted per byte. The remainder may allow another call. */
const budgetUsd = 5.5 * costUsd;

/**
 * Neither SDK retries a call that the budget refuses. The Vercel AI SDK does, as with every 429, and is refused each
 * time.
 */
test("twenty simultaneous first calls of a customer with a budget for two", async () => {
  const { cases, spans, prod } = await runGatewayClient("budgets.ts", [openai.model, `${budgetUsd}`]);
  const race = cases["race"] as Record<string, number>;
  const passed = race["answered"] ?? 0;
  expect(passed).toBeGreaterThanOrEqual(2);
  expect(passed * costUsd).toBeLessThanOrEqual(budgetUsd);
  expect(cases).toEqual({
    race: { answered: passed, "RateLimitError 429 budget_exceeded": 20 - passed },
    langchain: { threw: expect.objectContaining({ name: "RateLimitError", status: 429 }) as unknown },
    "rate limit": { outcomes: ["answered", "RateLimitError 429 rate_limited"] },
  });
  const [answered, blocked] = [200, 429].map((status) => withStatus(spans["race"], status));
  expect([answered?.length, blocked?.length]).toEqual([passed, 20 - passed]);
  expect(spans["langchain"]).toHaveLength(1);
  for (const row of [...(blocked ?? []), ...(spans["langchain"] ?? [])]) {
    expect(row).toMatchObject({
      model: openai.model,
      customer_identifier: blocked?.includes(row) === true ? "racer" : "spent",
      thread_identifier: "thread-1",
      status_code: 429,
      limit_info: { is_allowed: false },
      cost: 0,
      completion_message: null,
    });
  }
  expect(spans["rate limit"]?.map((row) => row["status_code"])).toEqual([200, 429]);
  const customer = (await prod.get("/api/users/racer/")).json as Row;
  expect(customer["total_budget"]).toBeCloseTo(budgetUsd, 12);
  expect(customer["total_usage"]).toBeCloseTo(passed * costUsd, 12);
});

function withStatus(rows: readonly Row[] = [], status: number): Row[] {
  return rows.filter((row) => row["status_code"] === status);
}
