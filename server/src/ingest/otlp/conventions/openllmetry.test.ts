import { expect, test } from "vitest";
import { json, mapped } from "../map-span.fixture.ts";

test("OpenLLMetry for LangChain sends a task's input under two names: it is stored once", () => {
  const given = json({ inputs: { question: "Weather?" } });
  const body = mapped({
    "gen_ai.operation.name": "execute_task",
    "traceloop.span.kind": "task",
    "traceloop.entity.name": "agent",
    "traceloop.entity.input": given,
    "gen_ai.task.input": given,
    "traceloop.entity.output": "{}",
    "gen_ai.task.output": "{}",
    "gen_ai.task.status": "success",
  });
  expect(body).toMatchObject({ log_type: "task", span_name: "agent", input: given, output: "{}" });
  expect(body["metadata"]).toEqual({ "gen_ai.operation.name": "execute_task", "gen_ai.task.status": "success" });
});

test("OpenLLMetry for OpenAI Agents: handoffs, and items of one response", () => {
  expect(mapped({ "gen_ai.operation.name": "handoff", "traceloop.span.kind": "handoff" })["log_type"]).toBe("handoff");
  const call = (id: string, name: string) => ({
    role: "assistant",
    parts: [{ type: "tool_call", id, name, arguments: {} }],
    finish_reason: "tool_call",
  });
  const body = mapped({
    "gen_ai.operation.name": "chat",
    "gen_ai.output.messages": json([call("c1", "get_weather"), call("c2", "get_time")]),
  });
  expect(body["completion_message"]).toMatchObject({
    content: null,
    tool_calls: [{ id: "c1" }, { id: "c2" }],
  });
});
