import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { listenLocally } from "./listen-locally.ts";

/** A scripted model behind OpenAI's API: it answers customers curtly, and judges such answers harshly. */
export type Model = { url: string; close(): void };

type ChatRequest = { model: string; response_format?: { type: string } };

const verdict = { explanation: "It names the refund, and neither apologizes nor offers another flight.", score: 2 };

export async function startModel(): Promise<Model> {
  // Requests to judges ask for JSON of a schema.
  const answer = ({ response_format }: ChatRequest): string =>
    response_format?.type === "json_schema" ? JSON.stringify(verdict) : "Ask for a refund.";
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      const chat = body as ChatRequest;
      const message = { role: "assistant", content: answer(chat) };
      response.setHeader("content-type", "application/json").end(
        JSON.stringify({
          id: "chatcmpl-demo",
          object: "chat.completion",
          created: Math.floor(Date.now() / 1000),
          model: chat.model,
          choices: [{ index: 0, message, finish_reason: "stop" }],
          usage: { prompt_tokens: 40, completion_tokens: 12, total_tokens: 52 },
        }),
      );
    });
  });
  return await listenLocally(server);
}
