import { expect, test } from "vitest";
import { assistant, json, mapped, system, user } from "../map-span.fixture.ts";

test("MLflow encodes single words as JSON text too", () => {
  const body = mapped({
    "mlflow.spanType": '"AGENT"',
    "mlflow.spanInputs": json({ question: "Weather?" }),
    "mlflow.spanOutputs": '"Sunny."',
    "mlflow.spanFunctionName": '"answer"',
    "user.id": '"u1"',
    "mlflow.traceTag.plan": "pro",
  });
  expect(body).toMatchObject({
    log_type: "agent",
    customer_identifier: "u1",
    input: { question: "Weather?" },
    output: "Sunny.",
    metadata: { "mlflow.spanFunctionName": "answer", plan: "pro" },
  });
});

test("MLflow's model calls, with the bodies of any provider", () => {
  const body = mapped({
    "mlflow.spanType": '"CHAT_MODEL"',
    "mlflow.llm.model": '"claude"',
    "mlflow.llm.provider": '"anthropic"',
    "mlflow.llm.cost": json({ input_cost: 0.1, output_cost: 0.2, total_cost: 0.3 }),
    "mlflow.chat.tokenUsage": json({
      input_tokens: 57,
      output_tokens: 17,
      total_tokens: 74,
      cache_read_input_tokens: 20,
    }),
    "mlflow.spanInputs": json({ system: "Be brief.", messages: [user("hello")] }),
    "mlflow.spanOutputs": json({ role: "assistant", content: [{ type: "text", text: "hi" }] }),
  });
  expect(body).toMatchObject({
    log_type: "chat",
    model: "claude",
    provider_id: "anthropic",
    cost: 0.3,
    prompt_messages: [system("Be brief."), user("hello")],
    completion_message: assistant("hi"),
    total_tokens: 74,
    prompt_cache_hit_tokens: 20,
  });
});
