/**
 * Anthropic's streams with features that are easily misread; their formats are those of its streaming documentation.
 */
type Event = { type: string; [member: string]: unknown };

const start = (usage: object): Event => ({
  type: "message_start",
  message: {
    id: "msg_recorded",
    type: "message",
    role: "assistant",
    model: "claude-sonnet-4-5-20250929",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  },
});
const open = (index: number, content_block: object): Event => ({ type: "content_block_start", index, content_block });
const text = (index: number): Event => open(index, { type: "text", text: "" });
const tool = (index: number, name: string): Event =>
  open(index, { type: "tool_use", id: `toolu_${name}`, name, input: {} });
const add = (index: number, type: string, member: string, ...pieces: string[]): Event[] =>
  pieces.map((piece) => ({ type: "content_block_delta", index, delta: { type, [member]: piece } }));
const say = (index: number, ...pieces: string[]): Event[] => add(index, "text_delta", "text", ...pieces);
const give = (index: number, ...pieces: string[]): Event[] => add(index, "input_json_delta", "partial_json", ...pieces);
const close = (index: number): Event => ({ type: "content_block_stop", index });
const stop = (stop_reason: string, usage: object): Event[] => [
  { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage },
  { type: "message_stop" },
];
const ping: Event = { type: "ping" };

const cached = { input_tokens: 3, cache_creation_input_tokens: 12_304, cache_read_input_tokens: 512, output_tokens: 1 };

const events: Record<string, Event[]> = {
  "text-in-any-script": [
    start(cached),
    text(0),
    ping,
    ...say(0, "北京 🌍", " naïve — ", "\u0000\u2028", "🏳️‍🌈"),
    close(0),
    ...stop("end_turn", { output_tokens: 550 }),
  ],
  "calls-after-text": [
    start({ input_tokens: 472, output_tokens: 2 }),
    text(0),
    ...say(0, "Let me", " see."),
    close(0),
    tool(1, "weather"),
    ...give(1, "", '{"city": "Par', "is \\ud83c", '\\udf0d", "days": [1, ', "2]}"),
    close(1),
    tool(2, "time"),
    ...give(2, '{"zone":', ' {"name": "CET", "offset": 1.50}', "}"),
    close(2),
    tool(3, "now"),
    ...give(3, ""),
    close(3),
    ...stop("tool_use", { output_tokens: 89 }),
  ],
  "calls-interleaved": [
    start({ input_tokens: 12, output_tokens: 1 }),
    tool(0, "a"),
    tool(1, "b"),
    ...give(0, '{"x":'),
    ...give(1, '{"y":'),
    ...give(0, "1}"),
    ...give(1, "2}"),
    close(1),
    close(0),
    ...stop("tool_use", { output_tokens: 30 }),
  ],
  "thinking-then-call": [
    start({ input_tokens: 20, output_tokens: 5 }),
    open(0, { type: "thinking", thinking: "", signature: "" }),
    ...add(0, "thinking_delta", "thinking", "First, ", "27 × 453 …"),
    ...add(0, "signature_delta", "signature", "EqQBCgIYAhIM1gbcDa9GJwZA2b3h"),
    close(0),
    tool(1, "multiply"),
    ...give(1, '{"a": 27, "b": 453}'),
    close(1),
    ...stop("tool_use", { output_tokens: 61 }),
  ],
  "counts-told-late": [
    start({ input_tokens: 10, output_tokens: 1 }),
    text(0),
    ...say(0, "cut sho"),
    close(0),
    ...stop("max_tokens", { input_tokens: 10_682, cache_read_input_tokens: 30_940, output_tokens: 510 }),
  ],
  refused: [start({ input_tokens: 15, output_tokens: 1 }), ...stop("refusal", { output_tokens: 3 })],
};

export const recordingNames = Object.keys(events);

/** Its events; undefined if there is no stream with that name. */
export function recordingOf(name: string): string[] | undefined {
  return events[name]?.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}
