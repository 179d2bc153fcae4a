import { describe, expect, test } from "vitest";
import { runClient } from "../support/run-client.ts";
import { cachedCost, full, mini, table, user } from "./expected.ts";

describe.each(["json", "protobuf"])("OpenTelemetry's exporter in %s", (encoding) => {
  test.each(["none", "gzip"])("with compression %s", async (compression) => {
    const run = await runClient("exporters.ts", [encoding, compression]);
    expect(run.trees).toEqual(["answer a question(chat gpt-4o-mini lookup)"]);
    expect(run.spans).toEqual(
      table(
        { name: "answer a question", type: "workflow", ...user },
        {
          name: "chat gpt-4o-mini",
          type: "chat",
          parent: "answer a question",
          model: mini,
          prompt: ["user: Capital of France? — ça va?"],
          answer: "Paris",
          ...full,
          ...user,
        },
        { name: "lookup", type: "tool", parent: "answer a question", status: "failed 500" },
      ),
    );
    const chat = run.rows.find((row) => row["log_type"] === "chat");
    expect(chat).toMatchObject({
      temperature: 1,
      provider_id: "openai",
      metadata: { "app.big": 9_007_199_254_740_991, "app.list": ["a", "b"] },
    });
    expect(run.rows.find((row) => row["log_type"] === "tool")).toMatchObject({ error_message: "no such city" });
    expect(run.traces).toMatchObject([
      { span_count: 3, error_count: 1, total_tokens: 74, customer_identifier: "user-42", thread_identifier: "sess-1" },
    ]);
    expect(run.traces[0]?.["total_cost"]).toBeCloseTo(cachedCost / 1e6, 12);
    // An exporter logs a response that it does not understand.
    expect(run.output).toBe("");
  });
});
