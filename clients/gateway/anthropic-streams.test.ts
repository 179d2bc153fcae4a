import { expect, inject, test } from "vitest";
import { runGatewayClient } from "./run-gateway-client.ts";
import { recordingNames } from "./upstream/recordings.ts";

/** The expected result of each stream, by either SDK; usage is prompt, completion, cache read, cache write. */
const expected: Record<string, object> = {
  "text-in-any-script": {
    text: "北京 🌍 naïve — \u0000\u2028🏳️‍🌈",
    finish: "stop",
    usage: { prompt: 12_819, completion: 550, read: 512, written: 12_304 },
  },
  "calls-after-text": {
    text: "Let me see.",
    calls: [
      { id: "toolu_weather", name: "weather", input: { city: "Paris 🌍", days: [1, 2] } },
      { id: "toolu_time", name: "time", input: { zone: { name: "CET", offset: 1.5 } } },
      { id: "toolu_now", name: "now", input: {} },
    ],
    finish: "tool_calls",
    usage: { prompt: 472, completion: 89, read: 0, written: 0 },
  },
  "calls-interleaved": {
    calls: [
      { id: "toolu_a", name: "a", input: { x: 1 } },
      { id: "toolu_b", name: "b", input: { y: 2 } },
    ],
    finish: "tool_calls",
  },
  "thinking-then-call": {
    thinking: "First, 27 × 453 …",
    calls: [{ id: "toolu_multiply", name: "multiply", input: { a: 27, b: 453 } }],
    finish: "tool_calls",
  },
  "counts-told-late": {
    text: "cut sho",
    finish: "length",
    usage: { prompt: 41_622, completion: 510, read: 30_940, written: 0 },
  },
  refused: { text: "", calls: [], finish: "content_filter" },
};

test("Anthropic's streams, through the gateway and with @anthropic-ai/sdk", async () => {
  const { cases, spans } = await runGatewayClient("anthropic-streams.ts", [inject("upstreamUrl"), ...recordingNames]);
  expect(Object.keys(cases)).toEqual(Object.keys(expected));
  expect(cases).toMatchObject(
    Object.fromEntries(Object.entries(expected).map(([name, result]) => [name, { vendor: result, gateway: result }])),
  );
  for (const [name, { vendor, gateway }] of Object.entries(cases)) {
    expect([name, gateway]).toEqual([name, vendor]);
    const { usage } = vendor as { usage: { prompt: number; completion: number } };
    expect(spans[name]).toHaveLength(1);
    expect(spans[name]?.[0]).toMatchObject({ prompt_tokens: usage.prompt, completion_tokens: usage.completion });
  }
});
