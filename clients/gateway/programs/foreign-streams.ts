import { ChatOpenAI } from "@langchain/openai";
import OpenAI from "openai";
import { attempt, gateway, tagsOf, whose } from "./cases.ts";

/**
 * Reads each stream with the helpers that accumulate chunks. Arguments: names of streams (upstream/foreign-chunks.ts).
 */
const [, , ...names] = process.argv;
const openai = new OpenAI(gateway);

async function readByOpenai(name: string, model: string, content: string): Promise<object> {
  const request = { model, messages: [{ role: "user" as const, content }], ...tagsOf(name) };
  const completion = await openai.chat.completions.stream(request).finalChatCompletion();
  const { message, finish_reason } = completion.choices[0] ?? {};
  const calls = (message?.tool_calls ?? []).flatMap((call) =>
    call.type === "function" ? [{ id: call.id, name: call.function.name, args: call.function.arguments }] : [],
  );
  return { role: message?.role, calls, finish: finish_reason };
}

async function readByLangchain(name: string, model: string, content: string): Promise<object> {
  const { apiKey, baseURL } = gateway;
  const chat = new ChatOpenAI({
    model,
    apiKey,
    configuration: { baseURL, defaultHeaders: whose },
    streamUsage: false,
    modelKwargs: tagsOf(name),
    // Keeps all members of the deltas, including unknown ones.
    __includeRawResponse: true,
  });
  const pieces = [];
  for await (const piece of await chat.stream(content)) pieces.push(piece);
  const [first, ...rest] = pieces;
  const completion = rest.reduce((whole, piece) => whole?.concat(piece) ?? piece, first);
  const calls = (completion?.tool_calls ?? []).map(({ id, name: tool, args }) => ({
    id,
    name: tool,
    args: JSON.stringify(args),
  }));
  return { role: completion?.getType() === "ai" ? "assistant" : completion?.getType(), calls };
}

for (const name of names) {
  await attempt(name, async () => ({
    openai: await readByOpenai(name, "gpt-4o-mini", `Foreign ${name}`),
    langchain: await readByLangchain(name, "gpt-4o-mini", `Foreign ${name}`),
  }));
}
await attempt("thinking", async () => {
  const model = "anthropic/claude-recorded";
  const content = "Replay thinking-then-call";
  return {
    openai: await readByOpenai("thinking", model, content),
    langchain: await readByLangchain("thinking", model, content),
  };
});
