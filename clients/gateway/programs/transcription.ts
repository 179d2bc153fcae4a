import { createOpenAI } from "@ai-sdk/openai";
import { transcribe } from "ai";
import { createReadStream, readFileSync } from "node:fs";
import OpenAI from "openai";
import { allInHeader, attempt, figuresOf, gateway, tagsOf, whose } from "./cases.ts";

/** The recording of the server's tests, uploaded in the forms that the SDKs support. */
const path = new URL("../../../server/test/fixtures/audio/sample1.mp3", import.meta.url);
const openai = new OpenAI(gateway);
const options = { headers: whose };
const asking = (name: string) => ({ file: createReadStream(path), model: "whisper-1", ...tagsOf(name) });

for (const response_format of ["json", "text", "srt", "verbose_json", "vtt"] as const) {
  await attempt(response_format, async () => {
    const answer: unknown = await openai.audio.transcriptions.create(
      { ...asking(response_format), response_format },
      options,
    );
    return { answer };
  });
}
await attempt("words", async () => {
  const timestamp_granularities: Array<"word" | "segment"> = ["word", "segment"];
  const request = { ...asking("words"), response_format: "verbose_json" as const, timestamp_granularities };
  const { words, segments } = await openai.audio.transcriptions.create(request, options);
  return { words: words?.length, segments: segments?.length };
});
await attempt("breakdown", async () => {
  const request = { ...asking("breakdown"), request_breakdown: true };
  const answer: object = await openai.audio.transcriptions.create(request, options);
  return { breakdown: "request_breakdown" in answer ? figuresOf(answer.request_breakdown) : undefined };
});
await attempt("ai sdk", async () => {
  const { text, segments, language, durationInSeconds } = await transcribe({
    model: createOpenAI(gateway).transcription("whisper-1"),
    audio: readFileSync(path),
    providerOptions: { openai: { timestampGranularities: ["word"] } },
    headers: allInHeader("ai sdk"),
  });
  return { text, segments: segments.length, language, durationInSeconds };
});
