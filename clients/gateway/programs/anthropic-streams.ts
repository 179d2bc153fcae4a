import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { attempt, gateway, tagsOf } from "./cases.ts";

/**
 * Reads each of Anthropic's streams with its own SDK directly from the upstream, and with the openai SDK through the
 * gateway. Arguments: the upstream's URL, and names of streams (upstream/recordings.ts).
 */
const [, , upstreamUrl = "", ...names] = process.argv;
const anthropic = new Anthropic({ apiKey: "unused", baseURL: `${upstreamUrl}/anthropic` });
const openai = new OpenAI(gateway);
/** Not a real model: the vendor's SDK warns of old ones. */
const model = "claude-recorded";

type Call = { id: string; name: string; input: unknown };
type StreamResult = {
  text: string;
  thinking: string;
  calls: Call[];
  finish: string | undefined;
  usage: Record<string, number>;
};

const finishes: Record<string, string> = {
  end_turn: "stop",
  stop_sequence: "stop",
  tool_use: "tool_calls",
  max_tokens: "length",
  refusal: "content_filter",
};

async function readByVendor(content: string): Promise<StreamResult> {
  const messages = [{ role: "user" as const, content }];
  const finalMessage = await anthropic.messages.stream({ model, max_tokens: 1_000, messages }).finalMessage();
  const { input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens } = finalMessage.usage;
  const [read, written] = [cache_read_input_tokens ?? 0, cache_creation_input_tokens ?? 0];
  return {
    text: finalMessage.content.map((block) => (block.type === "text" ? block.text : "")).join(""),
    thinking: finalMessage.content.map((block) => (block.type === "thinking" ? block.thinking : "")).join(""),
    calls: finalMessage.content.flatMap((block) => {
      if (block.type !== "tool_use") return [];
      const { id, name, input } = block;
      return [{ id, name, input }];
    }),
    finish: finishes[finalMessage.stop_reason ?? ""],
    usage: { prompt: input_tokens + read + written, completion: output_tokens, read, written },
  };
}

async function readByGateway(name: string, content: string): Promise<StreamResult> {
  const messages = [{ role: "user" as const, content }];
  const request = { model: `anthropic/${model}`, max_tokens: 1_000, messages, ...tagsOf(name) };
  const streamRequest = { ...request, stream: true as const, stream_options: { include_usage: true } };
  const result: StreamResult = { text: "", thinking: "", calls: [], finish: undefined, usage: {} };
  const inputs: string[] = [];
  for await (const chunk of await openai.chat.completions.create(streamRequest)) {
    const [choice] = chunk.choices;
    const { delta } = choice ?? {};
    result.text += delta?.content ?? "";
    // OpenAI has no name for it; other providers use this one.
    if (delta !== undefined && "reasoning_content" in delta) result.thinking += String(delta.reasoning_content);
    result.finish = choice?.finish_reason ?? result.finish;
    for (const { index, id, function: fn } of delta?.tool_calls ?? []) {
      const call = (result.calls[index] ??= { id: "", name: "", input: undefined });
      call.id += id ?? "";
      call.name += fn?.name ?? "";
      inputs[index] = (inputs[index] ?? "") + (fn?.arguments ?? "");
    }
    if (chunk.usage) result.usage = countsOf(chunk.usage);
  }
  result.calls = result.calls.map((call, index) => ({ ...call, input: JSON.parse(inputs[index] ?? "") as unknown }));
  return result;
}

function countsOf({ prompt_tokens, completion_tokens, prompt_tokens_details }: OpenAI.CompletionUsage) {
  const { cached_tokens: read = 0, cache_creation_tokens: written = 0 } = (prompt_tokens_details ?? {}) as {
    cached_tokens?: number;
    cache_creation_tokens?: number;
  };
  return { prompt: prompt_tokens, completion: completion_tokens, read, written };
}

for (const name of names) {
  const content = `Replay ${name}`;
  await attempt(name, async () => ({
    vendor: await readByVendor(content),
    gateway: await readByGateway(name, content),
  }));
}
