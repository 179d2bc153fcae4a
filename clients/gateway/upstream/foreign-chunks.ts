/** Streams of OpenAI-compatible servers, each with its own deviations. All have the content of `clean`. */

type Chunk = { [member: string]: unknown };

const chunk = (delta: unknown, finish_reason: string | null = null, index: number | undefined = 0): Chunk => ({
  id: "chatcmpl-foreign",
  object: "chat.completion.chunk",
  created: 1_700_000_000,
  model: "gpt-4o-mini",
  choices: [{ ...(index !== undefined && { index }), delta, finish_reason }],
});
const call = (members: object): Chunk => chunk({ tool_calls: [members] });
const begin = chunk({ role: "assistant", content: null });
const end = chunk({}, "tool_calls");
const image = (url: string): object => ({ type: "image_url", image_url: { url } });

const clean: Chunk[] = [
  begin,
  call({ index: 0, id: "call_a", type: "function", function: { name: "weather", arguments: "" } }),
  call({ index: 0, function: { arguments: '{"city":' } }),
  call({ index: 0, function: { arguments: '"Paris"}' } }),
  call({ index: 1, id: "call_b", type: "function", function: { name: "weather", arguments: '{"city":"Rome"}' } }),
  end,
];

const streams: Record<string, Chunk[]> = {
  clean,
  "without an index": [
    begin,
    call({ id: "call_a", type: "function", function: { name: "weather", arguments: "" } }),
    call({ function: { arguments: '{"city":' } }),
    call({ function: { arguments: '"Paris"}' } }),
    call({ id: "call_b", type: "function", function: { name: "weather", arguments: '{"city":"Rome"}' } }),
    end,
  ],
  "names that are null, ids that repeat": [
    begin,
    call({ index: 0, id: "call_a", type: "function", function: { name: "weather", arguments: "" } }),
    call({ index: 0, id: "call_a", type: "function", function: { name: null, arguments: '{"city":' } }),
    call({ index: 0, id: "", type: "", function: { name: "", arguments: '"Paris"}' } }),
    call({ index: 1, id: "call_b", type: "function", function: { name: "weather", arguments: '{"city":"Rome"}' } }),
    end,
  ],
  "ids that come late": [
    begin,
    call({ index: 0, type: "function", function: { name: "weather", arguments: '{"city":' } }),
    call({ index: 0, id: "call_a", function: { arguments: '"Paris"}' } }),
    call({ index: 1, function: { name: "weather" } }),
    call({ index: 1, id: "call_b", function: { arguments: '{"city":"Rome"}' } }),
    end,
  ],
  "empty roles, choices without an index": [
    chunk({ role: "", content: null }, null, undefined),
    ...clean.slice(1, -1),
    chunk({ role: "" }, "tool_calls", undefined),
  ],
  "images without an index": [
    chunk({ role: "assistant", content: null, images: [image("data:a")] }),
    chunk({ images: [image("data:b")] }),
    ...clean.slice(1),
  ],
};

export const foreignNames = Object.keys(streams);

/** The events of the stream with that name. */
export function foreignChunks(name: string): string[] | undefined {
  return streams[name]?.map((each) => `data: ${JSON.stringify(each)}\n\n`).concat("data: [DONE]\n\n");
}
