import type { ServerResponse } from "node:http";
import { answerTo, piecesOf, type Asked, type Said } from "./scene.ts";
import { counted, dataEvent, sendEvents, sendJson } from "./send.ts";

type Part = {
  text?: string;
  inlineData?: { mimeType: string; data: string };
  functionResponse?: { name: string; response: { output: string } };
};
type GenerateRequest = {
  contents: Array<{ role: string; parts: Part[] }>;
  tools?: Array<{ functionDeclarations?: Array<{ name: string }> }>;
  generationConfig?: { responseMimeType?: string };
};

/** Reasoning tokens are counted separately from the output. */
export const geminiUsage = {
  promptTokenCount: 57,
  cachedContentTokenCount: 32,
  candidatesTokenCount: 12,
  thoughtsTokenCount: 5,
  totalTokenCount: 74,
};

const ends = { modelVersion: "gemini-2.5-flash", responseId: "scripted", usageMetadata: geminiUsage };

/** Responds like `generateContent` and `streamGenerateContent?alt=sse` of the Gemini API. */
export async function answerAsGemini(
  body: GenerateRequest,
  isStream: boolean,
  response: ServerResponse,
): Promise<void> {
  const said = answerTo(read(body));
  if (said.kind === "refusal") {
    return sendJson(response, 400, { error: { code: 400, message: said.message, status: "INVALID_ARGUMENT" } });
  }
  if (isStream) return sendEvents(response, events(said, response));
  return sendJson(response, 200, { ...candidate(partsOf(said), "STOP"), ...ends });
}

/** A call is identified by its index: the second generation of models has no ids. */
function read({ contents, tools, generationConfig }: GenerateRequest): Asked {
  const parts = contents.at(-1)?.parts ?? [];
  const image = parts.find(({ inlineData }) => inlineData !== undefined)?.inlineData;
  return {
    text: parts.map(({ text }) => text ?? "").join(""),
    image: image && { mediaType: image.mimeType, bytes: Buffer.from(image.data, "base64").length },
    tools: (tools ?? []).flatMap(({ functionDeclarations }) => functionDeclarations ?? []).map(({ name }) => name),
    results: parts
      .flatMap(({ functionResponse }) => functionResponse ?? [])
      .map(({ response }, index) => ({ call: `${index}`, text: response.output })),
    isJson: generationConfig?.responseMimeType === "application/json",
  };
}

function partsOf(said: Said): unknown[] {
  if (said.kind === "calls") return said.calls.map(({ name, args }) => ({ functionCall: { name, args } }));
  return [{ text: said.kind === "text" ? said.text : "" }];
}

function candidate(parts: unknown[], finishReason?: string): { candidates: unknown[] } {
  return { candidates: [{ content: { role: "model", parts }, index: 0, ...(finishReason && { finishReason }) }] };
}

/** Calls arrive whole, followed by the finish reason with an empty text. */
async function* events(said: Said, response: ServerResponse): AsyncGenerator<string> {
  if (said.kind === "calls") yield dataEvent({ ...candidate(partsOf(said)), ...ends });
  else {
    const words = said.kind === "text" ? piecesOf(said.text) : counted(response);
    for await (const text of words) yield dataEvent({ ...candidate([{ text }]), ...ends });
  }
  yield dataEvent({ ...candidate([{ text: "" }], "STOP"), ...ends });
}
