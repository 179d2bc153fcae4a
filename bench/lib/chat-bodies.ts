/** Requests and responses of the gateway benches. Texts are plain ASCII, so that characters equal bytes. */

const words = "The quick brown fox reads the manual before it presses the red button on the wall. ";
const textOf = (chars: number): string => words.repeat(Math.ceil(chars / words.length)).slice(0, chars);

/** A chat request of about one kilobyte. */
export function chatRequest(model: string, isStream: boolean): Buffer {
  return Buffer.from(
    JSON.stringify({
      model,
      messages: [
        { role: "system", content: textOf(300) },
        { role: "user", content: textOf(500) },
      ],
      temperature: 0.7,
      max_tokens: 256,
      ...(isStream && { stream: true }),
    }),
  );
}

const usage = { prompt_tokens: 190, completion_tokens: 140, total_tokens: 330 };

/** A whole completion of about one kilobyte. */
export function chatReply(): Buffer {
  return Buffer.from(
    JSON.stringify({
      id: "chatcmpl-bench0123456789",
      object: "chat.completion",
      created: 1_750_000_000,
      model: "gpt-4o-2024-08-06",
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: textOf(560), refusal: null },
          logprobs: null,
          finish_reason: "stop",
        },
      ],
      usage: {
        ...usage,
        prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
      },
      service_tier: "default",
      system_fingerprint: "fp_0123456789",
    }),
  );
}

const sse = (event: object): string => `data: ${JSON.stringify(event)}\n\n`;

function chunk(choices: object[], more: object = {}): string {
  const head = { id: "chatcmpl-bench0123456789", object: "chat.completion.chunk", created: 1_750_000_000 };
  return sse({ ...head, model: "gpt-4o-2024-08-06", system_fingerprint: "fp_0123456789", choices, ...more });
}

export const firstEvent = chunk([{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }]);
export const tokenEvent = (text: string): string =>
  chunk([{ index: 0, delta: { content: text }, logprobs: null, finish_reason: null }]);
export const lastEvents = `${chunk([{ index: 0, delta: {}, finish_reason: "stop" }])}${chunk([], { usage })}data: [DONE]\n\n`;

/** A stream in OpenAI's format with `events` tokens. */
export function openaiStream(events: number): Buffer {
  return Buffer.from(firstEvent + tokenEvent(" button").repeat(events) + lastEvents);
}

/** The same in Anthropic's format. */
export function anthropicStream(events: number): Buffer {
  const named = (event: { type: string; [member: string]: unknown }): string => `event: ${event.type}\n${sse(event)}`;
  const message = { id: "msg_bench", type: "message", role: "assistant", model: "claude-sonnet-4-5", content: [] };
  const delta = { type: "text_delta", text: " button" };
  return Buffer.from(
    named({ type: "message_start", message: { ...message, usage: { input_tokens: 190, output_tokens: 1 } } }) +
      named({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }) +
      named({ type: "content_block_delta", index: 0, delta }).repeat(events) +
      named({ type: "content_block_stop", index: 0 }) +
      named({
        type: "message_delta",
        delta: { stop_reason: "end_turn", stop_sequence: null },
        usage: { output_tokens: 140 },
      }) +
      named({ type: "message_stop" }),
  );
}
