import type { ServerResponse } from "node:http";
import { answerTo, piecesOf, type UpstreamRequest, type Answer } from "./scene.ts";
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
  const answer = answerTo(read(body));
  if (answer.kind === "refusal") {
    return sendJson(response, 400, { error: { code: 400, message: answer.message, status: "INVALID_ARGUMENT" } });
  }
  if (isStream) return sendEvents(response, events(answer, response));
  return sendJson(response, 200, { ...candidate(partsOf(answer), "STOP"), ...ends });
}

/** A call is identified by its index: the second generation of models has no ids. */
function read({ contents, tools, generationConfig }: GenerateRequest): UpstreamRequest {
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

function partsOf(answer: Answer): unknown[] {
  if (answer.kind === "calls") return answer.calls.map(({ name, args }) => ({ functionCall: { name, args } }));
  return [{ text: answer.kind === "text" ? answer.text : "" }];
}

function candidate(parts: unknown[], finishReason?: string): { candidates: unknown[] } {
  return { candidates: [{ content: { role: "model", parts }, index: 0, ...(finishReason && { finishReason }) }] };
}

/** Calls arrive whole, followed by the finish reason with an empty text. */
async function* events(answer: Answer, response: ServerResponse): AsyncGenerator<string> {
  if (answer.kind === "calls") yield dataEvent({ ...candidate(partsOf(answer)), ...ends });
  else {
    const words = answer.kind === "text" ? piecesOf(answer.text) : counted(response);
    for await (const text of words) yield dataEvent({ ...candidate([{ text }]), ...ends });
  }
  yield dataEvent({ ...candidate([{ text: "" }], "STOP"), ...ends });
}
