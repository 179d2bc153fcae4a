import type { FinishReason } from "../provider.ts";
import { type Answer, describeTranslator, inPieces } from "../translator-contract.ts";
import { anthropicTranslator } from "./translator.ts";

const reasons: Readonly<Record<FinishReason, string>> = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  content_filter: "refusal",
};

const blocksOf = ({ text, calls = [] }: Answer) => [
  ...(text === undefined ? [] : [{ type: "text", text }]),
  ...calls.map(({ id, name, arguments: input }) => ({ type: "tool_use", id, name, input })),
];

const usageOf = ({ usage }: Answer) => ({
  input_tokens: usage.fresh,
  cache_read_input_tokens: usage.cacheRead,
  cache_creation_input_tokens: 0,
  output_tokens: usage.output,
});

function eventsOf(answer: Answer): Array<{ type: string } & Record<string, unknown>> {
  const blocks = blocksOf(answer).flatMap((block, index) => {
    const isText = "text" in block;
    const empty = isText ? { type: "text", text: "" } : { ...block, input: {} };
    const deltas = isText
      ? inPieces(block.text).map((text) => ({ type: "text_delta", text }))
      : inPieces(JSON.stringify(block.input)).map((partial_json) => ({ type: "input_json_delta", partial_json }));
    return [
      { type: "content_block_start", index, content_block: empty },
      ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index },
    ];
  });
  return [
    { type: "message_start", message: { id: "msg_1", content: [], usage: { ...usageOf(answer), output_tokens: 1 } } },
    ...blocks,
    {
      type: "message_delta",
      delta: { stop_reason: reasons[answer.finish] },
      usage: { output_tokens: answer.usage.output },
    },
    { type: "message_stop" },
  ];
}

describeTranslator(
  anthropicTranslator,
  {
    provider: "anthropic",
    model: "claude-sonnet-4-5",
    baseUrl: "https://api.anthropic.com",
    credential: { apiKey: "k", fields: {} },
  },
  {
    reply: (answer) =>
      Buffer.from(
        JSON.stringify({
          id: "msg_1",
          content: blocksOf(answer),
          stop_reason: reasons[answer.finish],
          usage: usageOf(answer),
        }),
      ),
    stream: (answer) =>
      Buffer.from(
        eventsOf(answer)
          .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
          .join(""),
      ),
  },
);
