import type { FinishReason } from "../provider.ts";
import { type Answer, describeTranslator, inPieces } from "../translator-contract.ts";
import { encodeEvent } from "./event-stream.fixture.ts";
import { bedrockTranslator } from "./translator.ts";

const reasons: Readonly<Record<FinishReason, string>> = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  content_filter: "guardrail_intervened",
};

const usageOf = ({ usage }: Answer) => ({
  inputTokens: usage.fresh,
  outputTokens: usage.output,
  totalTokens: usage.fresh + usage.cacheRead + usage.output,
  cacheReadInputTokens: usage.cacheRead,
  cacheWriteInputTokens: 0,
});

function eventsOf({ text, calls = [], finish, ...answer }: Answer): Buffer[] {
  const delta = (contentBlockIndex: number, piece: object) =>
    encodeEvent("contentBlockDelta", { contentBlockIndex, delta: piece, p: "abc" });
  const first = text === undefined ? 0 : 1;
  return [
    encodeEvent("messageStart", { role: "assistant" }),
    ...inPieces(text ?? "").map((piece) => delta(0, { text: piece })),
    ...(text === undefined ? [] : [encodeEvent("contentBlockStop", { contentBlockIndex: 0 })]),
    ...calls.flatMap(({ id, name, arguments: input }, i) => [
      encodeEvent("contentBlockStart", { contentBlockIndex: first + i, start: { toolUse: { toolUseId: id, name } } }),
      ...inPieces(JSON.stringify(input)).map((piece) => delta(first + i, { toolUse: { input: piece } })),
      encodeEvent("contentBlockStop", { contentBlockIndex: first + i }),
    ]),
    encodeEvent("messageStop", { stopReason: reasons[finish] }),
    encodeEvent("metadata", { usage: usageOf({ finish, ...answer }), metrics: { latencyMs: 1 } }),
  ];
}

describeTranslator(
  bedrockTranslator,
  {
    provider: "bedrock",
    model: "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    baseUrl: "https://bedrock-runtime.us-east-1.amazonaws.com",
    credential: { fields: { access_key_id: "AKID", secret_access_key: "secret", region: "us-east-1" } },
  },
  {
    reply: (answer) =>
      Buffer.from(
        JSON.stringify({
          output: {
            message: {
              role: "assistant",
              content: [
                ...(answer.text === undefined ? [] : [{ text: answer.text }]),
                ...(answer.calls ?? []).map(({ id, name, arguments: input }) => ({
                  toolUse: { toolUseId: id, name, input },
                })),
              ],
            },
          },
          stopReason: reasons[answer.finish],
          usage: usageOf(answer),
        }),
      ),
    stream: (answer) => Buffer.concat(eventsOf(answer)),
  },
);
