import type { ServerResponse } from "node:http";

export const spoken = "So it goes — Straße 🌍.";
const word = { word: "So", start: 0, end: 0.4 };
const segment = { id: 0, start: 0, end: 10.1, text: spoken, tokens: [1], temperature: 0, avg_logprob: -0.1 };

/** Texts of each format, as the API returns them. */
export const transcripts = {
  text: `${spoken}\n`,
  srt: `1\n00:00:00,000 --> 00:00:10,100\n${spoken}\n\n`,
  vtt: `WEBVTT\n\n00:00:00.000 --> 00:00:10.100\n${spoken}\n\n`,
} as const;

/** The billed seconds; whisper-1 costs 0.006 USD a minute. */
export const spokenSeconds = 11;

/** Responds like OpenAI's `POST /v1/audio/transcriptions`. The JSON also names the received file. */
export async function answerTranscription(contentType: string, body: Buffer, response: ServerResponse): Promise<void> {
  const form = await new Response(new Uint8Array(body), { headers: { "content-type": contentType } }).formData();
  const [format, file] = [form.get("response_format") ?? "json", form.get("file")];
  if (!(file instanceof File)) throw new Error("the form has no file");
  if (format === "text" || format === "srt" || format === "vtt") {
    response.writeHead(200, { "content-type": "text/plain; charset=utf-8" }).end(transcripts[format]);
    return;
  }
  const usage = { type: "duration", seconds: spokenSeconds };
  const granularities = form.getAll("timestamp_granularities[]");
  const verbose = {
    task: "transcribe",
    language: "english",
    duration: 10.1,
    ...(granularities.includes("word") && { words: [word] }),
    ...((granularities.length === 0 || granularities.includes("segment")) && { segments: [segment] }),
  };
  const text = `${spoken} ${file.name} of ${file.size} bytes`;
  const answer = { ...(format === "verbose_json" && verbose), text, usage };
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
}
