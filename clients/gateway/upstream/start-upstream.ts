import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { answerAsAnthropic } from "./anthropic.ts";
import { answerAsGemini } from "./gemini.ts";
import { answerAsOpenai } from "./openai.ts";
import { sendJson } from "./send.ts";
import { answerTranscription } from "./transcription.ts";

/** Providers on loopback, each with its own path and wire format, that all respond as upstream/scene.ts decides. */
export type Upstream = { url: string; stop(): Promise<void> };

/** The server's settings for these providers. */
export function upstreamVariables(url: string): Record<string, string> {
  const key = "sk-upstream-0123456789";
  return {
    OPENAI_API_KEY: key,
    OPENAI_BASE_URL: `${url}/openai/v1`,
    ANTHROPIC_API_KEY: key,
    ANTHROPIC_BASE_URL: `${url}/anthropic`,
    GEMINI_API_KEY: key,
    GEMINI_BASE_URL: `${url}/gemini`,
    // Rejects our key for every request.
    GROQ_API_KEY: key,
    GROQ_BASE_URL: `${url}/refusing/v1`,
  };
}

export async function startUpstream(): Promise<Upstream> {
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = request.url ?? "";
  const body = await readBody(request);
  if (path === "/openai/v1/audio/transcriptions") {
    return answerTranscription(request.headers["content-type"] ?? "", body, response);
  }
  const parsedBody = JSON.parse(body.toString("utf8")) as never;
  if (path === "/openai/v1/chat/completions") return answerAsOpenai(parsedBody, response);
  if (/^\/anthropic\/v1\/messages(?:\?beta=true)?$/.test(path)) return answerAsAnthropic(parsedBody, response);
  if (path === "/anthropic/v1/messages/count_tokens") return sendJson(response, 200, { input_tokens: 57 });
  const [, operation] = /^\/gemini\/v1beta\/models\/[\w.-]+:(\w+)/.exec(path) ?? [];
  if (operation !== undefined) return answerAsGemini(parsedBody, operation === "streamGenerateContent", response);
  if (path.startsWith("/refusing/")) {
    return sendJson(response, 401, { error: { message: "Incorrect API key provided", code: "invalid_api_key" } });
  }
  return sendJson(response, 404, { error: { message: `nothing at ${path}` } });
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
