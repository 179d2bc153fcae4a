import { expect, test } from "vitest";
import type { Row } from "../../server/test/support/test-client.ts";
import { runGatewayClient } from "./run-gateway-client.ts";
import { spoken, spokenSeconds, transcripts } from "./upstream/transcription.ts";

const bytes = 121_671;
const transcriptOf = (file: string): string => `${spoken} ${file} of ${bytes} bytes`;
const text = transcriptOf("sample1.mp3");
const usage = { type: "duration", seconds: spokenSeconds };
const costUsd = (spokenSeconds / 60) * 0.006;

test("recordings uploaded in the forms of the openai SDK and the Vercel AI SDK", async () => {
  const { cases, spans } = await runGatewayClient("transcription.ts");
  const verbose = { task: "transcribe", language: "english", duration: 10.1, segments: [expect.anything()] };
  expect(cases).toEqual({
    json: { answer: { text, usage } },
    text: { answer: transcripts.text },
    srt: { answer: transcripts.srt },
    verbose_json: { answer: { ...verbose, text, usage } },
    vtt: { answer: transcripts.vtt },
    words: { words: 1, segments: 1 },
    breakdown: {
      breakdown: {
        prompt_tokens: null,
        completion_tokens: null,
        costMicroUsd: Number((costUsd * 1e6).toFixed(4)),
        cached: false,
        stream: false,
        status_code: 200,
        metadata: { case: "breakdown" },
      },
    },
    "ai sdk": { text: transcriptOf("audio.mp3"), segments: 1, language: "en", durationInSeconds: 10.1 },
  });
  expect(Object.keys(spans).toSorted()).toEqual(Object.keys(cases).toSorted());
  for (const [name, rows] of Object.entries(spans)) expectTranscription(name, rows);
});

/** One span, without the recording, billed by the duration that the provider states, otherwise by that of the file. */
function expectTranscription(name: string, rows: readonly Row[]): void {
  const [row] = rows;
  expect([name, rows.length]).toEqual([name, 1]);
  expect(row).toMatchObject({
    log_type: "transcription",
    log_method: "gateway",
    model: "whisper-1",
    provider_id: "openai",
    status_code: 200,
    stream: false,
    customer_identifier: "customer-1",
    thread_identifier: "thread-1",
    metadata: { case: name },
    audio_input_file: { bytes },
    limit_info: { is_allowed: true },
  });
  const isText = Object.hasOwn(transcripts, name);
  expect(row?.["cost"]).toBeCloseTo(isText ? (10.109 / 60) * 0.006 : costUsd, 6);
  expect(row?.["completion_message"]).toMatchObject({ content: expect.stringContaining(spoken) });
  expect(row?.["latency"]).toBeGreaterThan(0);
}
