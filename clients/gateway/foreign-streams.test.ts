import { expect, test } from "vitest";
import { runGatewayClient } from "./run-gateway-client.ts";
import { foreignNames } from "./upstream/foreign-chunks.ts";

test("P4, P10: openai and LangChain read streams of OpenAI-compatible servers like the clean stream", async () => {
  const { cases, spans } = await runGatewayClient("foreign-streams.ts", foreignNames);
  const calls = [
    { id: "call_a", name: "weather", args: '{"city":"Paris"}' },
    { id: "call_b", name: "weather", args: '{"city":"Rome"}' },
  ];
  const { thinking, ...foreign } = cases;
  expect(foreign).toEqual(
    Object.fromEntries(
      foreignNames.map((name) => [
        name,
        { openai: { role: "assistant", calls, finish: "tool_calls" }, langchain: { role: "assistant", calls } },
      ]),
    ),
  );
  const multiply = [{ id: "toolu_multiply", name: "multiply", args: expect.any(String) }];
  expect(thinking).toMatchObject({ openai: { calls: multiply }, langchain: { calls: multiply } });
  for (const name of foreignNames) {
    expect(spans[name]?.[0]?.["completion_message"]).toMatchObject({
      tool_calls: [{ id: "call_a" }, { id: "call_b" }],
    });
  }
});
