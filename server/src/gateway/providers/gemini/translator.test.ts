import type { FinishReason } from "../provider.ts";
import { type Answer, describeTranslator, inPieces } from "../translator-contract.ts";
import { geminiTranslator } from "./translator.ts";

const reasons: Readonly<Record<FinishReason, string>> = {
  stop: "STOP",
  length: "MAX_TOKENS",
  tool_calls: "STOP",
  content_filter: "SAFETY",
};

const partsOf = ({ text, calls = [] }: Answer): Array<{ text: string } | { functionCall: object }> => [
  ...(text === undefined ? [] : [{ text }]),
  ...calls.map(({ name, arguments: args }) => ({ functionCall: { name, args } })),
];

const usageOf = ({ usage }: Answer) => ({
  promptTokenCount: usage.fresh + usage.cacheRead,
  cachedContentTokenCount: usage.cacheRead,
  candidatesTokenCount: usage.output,
  totalTokenCount: usage.fresh + usage.cacheRead + usage.output,
});

function eventsOf(answer: Answer): object[] {
  const pieces: object[] = partsOf(answer).flatMap((part): object[] =>
    "text" in part ? inPieces(part.text).map((text) => ({ text })) : [part],
  );
  const events: object[] = pieces.map((part) => ({
    candidates: [{ content: { parts: [part], role: "model" }, index: 0 }],
  }));
  const last = { content: { parts: [{ text: "" }], role: "model" }, finishReason: reasons[answer.finish], index: 0 };
  return [...events, { candidates: [last], usageMetadata: usageOf(answer) }];
}

describeTranslator(
  geminiTranslator,
  {
    provider: "gemini",
    model: "gemini-2.5-flash",
    baseUrl: "https://generativelanguage.googleapis.com",
    credential: { apiKey: "k", fields: {} },
  },
  {
    reply: (answer) =>
      Buffer.from(
        JSON.stringify({
          candidates: [
            { content: { parts: partsOf(answer), role: "model" }, finishReason: reasons[answer.finish], index: 0 },
          ],
          usageMetadata: usageOf(answer),
        }),
      ),
    stream: (answer) =>
      Buffer.from(
        eventsOf(answer)
          .map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`)
          .join(""),
      ),
  },
);
