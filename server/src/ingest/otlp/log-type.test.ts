import { describe, expect, test } from "vitest";
import { mapped } from "./map-span.fixture.ts";

describe("the kind of a span", () => {
  test.each([
    [{ "gen_ai.operation.name": "execute_tool" }, "tool"],
    [{ "gen_ai.operation.name": "chat", "gen_ai.tool.name": "get_weather" }, "chat"],
    [{ "gen_ai.operation.name": "chat", "gen_ai.agent.name": "helper" }, "chat"],
    [{ "gen_ai.operation.name": "chat", "openai.api.type": "responses" }, "response"],
    [{ "gen_ai.operation.name": "chat", "gen_ai.response.id": "resp_1" }, "response"],
    [{ "gen_ai.operation.name": "tool_call" }, "tool"],
    [{ "gen_ai.operation.name": "llm_call" }, "chat"],
    [{ "gen_ai.operation.name": "invoke_agent", "gen_ai.usage.input_tokens": 5 }, "agent"],
    [{ "openinference.span.kind": "RETRIEVER" }, "task"],
    [{ "openinference.span.kind": "GUARDRAIL" }, "guardrail"],
    [{ "traceloop.span.kind": "workflow" }, "workflow"],
    [{ "langfuse.observation.type": "generation" }, "generation"],
    [{ "ai.operationId": "ai.embed.doEmbed" }, "embedding"],
    [{ "llm.request.type": "completion" }, "completion"],
    [{ "gen_ai.tool.name": "get_weather" }, "tool"],
    [{ "gen_ai.request.model": "gpt-4o" }, "chat"],
    [{ "gen_ai.usage.input_tokens": 5 }, "chat"],
    [{ "openinference.span.kind": "unheard of" }, "task"],
    [{ constructor: "x" }, "task"],
    [{}, "task"],
  ])("%j is a %s", (attributes, expected) => {
    expect(mapped(attributes)["log_type"]).toBe(expected);
  });

  test("a root without any sign is a workflow", () => {
    expect(mapped({}, { parent: "" })["log_type"]).toBe("workflow");
  });
});
