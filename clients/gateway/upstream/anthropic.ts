import type { ServerResponse } from "node:http";
import { anthropicUsage } from "../../support/mock-model.ts";
import { recordingOf } from "./recordings.ts";
import { answerTo, piecesOf, type UpstreamRequest, type Answer } from "./scene.ts";
import { counted, sendEvents, sendJson } from "./send.ts";

type Block = {
  type: string;
  text?: string;
  source?: { media_type: string; data: string };
  tool_use_id?: string;
  content?: string | Block[];
};
type MessagesRequest = {
  model: string;
  messages: Array<{ role: string; content: string | Block[] }>;
  stream?: boolean;
  tools?: Array<{ name: string }>;
  output_config?: { format?: unknown };
};

/** Responds like Anthropic's `POST /v1/messages`. */
export async function answerAsAnthropic(body: MessagesRequest, response: ServerResponse): Promise<void> {
  const request = read(body);
  const recording = recordingOf(request.text.replace("Replay ", ""));
  if (recording !== undefined) return sendEvents(response, recording);
  const answer = answerTo(request);
  if (answer.kind === "refusal") {
    return sendJson(response, 400, {
      type: "error",
      error: { type: "invalid_request_error", message: answer.message },
    });
  }
  if (body.stream === true) return sendEvents(response, events(answer, body.model, response));
  return sendJson(response, 200, {
    ...messageOf(body.model),
    content:
      answer.kind === "calls"
        ? answer.calls.map(({ id, name, args }) => ({ type: "tool_use", id, name, input: args }))
        : [{ type: "text", text: answer.kind === "text" ? answer.text : "" }],
    stop_reason: stopOf(answer),
    usage: anthropicUsage,
  });
}

function read({ messages, tools, output_config }: MessagesRequest): UpstreamRequest {
  const last = messages.at(-1)?.content ?? "";
  const blocks: Block[] = typeof last === "string" ? [{ type: "text", text: last }] : last;
  const source = blocks.find(({ type }) => type === "image")?.source;
  return {
    text: textOf(blocks),
    image: source && { mediaType: source.media_type, bytes: Buffer.from(source.data, "base64").length },
    tools: (tools ?? []).map(({ name }) => name),
    results: blocks
      .filter(({ type }) => type === "tool_result")
      .map(({ tool_use_id, content }) => ({ call: tool_use_id ?? "", text: textOf(content) })),
    isJson: output_config?.format !== undefined,
  };
}

function textOf(content: string | Block[] | undefined): string {
  return typeof content === "string" ? content : (content ?? []).map(({ text }) => text ?? "").join("");
}

function messageOf(model: string) {
  return { id: "msg_scripted", type: "message", role: "assistant", model, stop_sequence: null };
}

function stopOf(answer: Answer): string {
  return answer.kind === "calls" ? "tool_use" : "end_turn";
}

function event(value: { type: string; [member: string]: unknown }): string {
  return `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;
}

/** The events of one response; deltas of several calls do not alternate, as the API sends one block after another. */
async function* events(answer: Answer, model: string, response: ServerResponse): AsyncGenerator<string> {
  const usage = { ...anthropicUsage, output_tokens: 1 };
  yield event({ type: "message_start", message: { ...messageOf(model), content: [], stop_reason: null, usage } });
  yield event({ type: "ping" });
  if (answer.kind === "calls") {
    for (const [index, { id, name, args }] of answer.calls.entries()) {
      yield event({ type: "content_block_start", index, content_block: { type: "tool_use", id, name, input: {} } });
      for (const partial_json of ["", ...piecesOf(JSON.stringify(args))]) {
        yield event({ type: "content_block_delta", index, delta: { type: "input_json_delta", partial_json } });
      }
      yield event({ type: "content_block_stop", index });
    }
  } else {
    yield event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } });
    const words = answer.kind === "text" ? piecesOf(answer.text) : counted(response);
    for await (const text of words) {
      yield event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } });
    }
    yield event({ type: "content_block_stop", index: 0 });
  }
  const { output_tokens } = anthropicUsage;
  yield event({
    type: "message_delta",
    delta: { stop_reason: stopOf(answer), stop_sequence: null },
    usage: { output_tokens },
  });
  yield event({ type: "message_stop" });
}
