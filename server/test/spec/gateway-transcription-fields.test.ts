import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { form, type Part } from "../support/form.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { answers } from "../support/scripted-upstream.ts";
import { retrieveSpan } from "../support/spans.ts";
import { testKeys } from "../support/test-app.ts";
import type { Answer, Row, TestClient } from "../support/test-client.ts";

/** The metadata of a transcription: its fields, and the returned text. */

const path = "/v1/audio/transcriptions";
const sample = readFileSync(new URL("../fixtures/audio/sample1.mp3", import.meta.url));
/** Duration of the sample, in seconds. */
const sampleSeconds = 10.109;
const file: Part = ["file", sample, { name: "sample1.mp3", type: "audio/mpeg" }];
const model: Part = ["model", "whisper-1"];

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

let client: TestClient;
beforeEach(async () => {
  client = (await gateway.app.newOrganization()).prod;
  gateway.upstream.requests.length = 0;
  gateway.upstream.script(answers(200, { text: "Hello there." }));
});

async function send(parts: Part[]): Promise<Answer> {
  const { bytes, type } = form(...parts);
  return client.post(path, bytes, { "content-type": type });
}

const span = (answer: Answer): Promise<Row> => retrieveSpan(client, answer.headers.get("x-spanway-log-id"));
const errorOf = ({ json }: Answer): Row => (json as { error: Row }).error;

test.each<[what: string, fields: Part[], told: string]>([
  ["language", [model, ["language", "xx"]], "language"],
  ["name of a language", [["language", "english"], model], "language"],
  ["model", [["model", "gpt-4o"]], "model"],
  ["model of no kind", [["model", "no-such-model"]], "model"],
])("P20: an unknown %s is refused before the file is there", async (_what, fields, message) => {
  const { bytes, type } = form(...fields, ["file", Buffer.alloc(4_000_000), { name: "a.mp3" }]);
  const { hostname, port } = new URL(gateway.app.url);
  const socket = connect(Number(port), hostname);
  const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${testKeys.prod}\r\ncontent-type: ${type}\r\ncontent-length: ${bytes.length}\r\n\r\n`;
  let answer = "";
  socket.on("data", (chunk: Buffer) => (answer += chunk.toString())).on("error", () => undefined);
  socket.write(Buffer.concat([Buffer.from(head), bytes.subarray(0, 2_000)]));
  await expect.poll(() => answer, { timeout: 5_000 }).toContain("invalid_request_error");
  socket.destroy();
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(answer).toContain(`"param":"${message}"`);
  expect(answer).toMatch(/\r\nx-spanway-log-id: \S+/i);
  expect(gateway.upstream.requests).toHaveLength(0);
});

test("P20: is refused after the file, too, and is a span with its parameters", async () => {
  const answer = await send([file, model, ["language", "xx"], ["customer_identifier", "ann"]]);
  expect([answer.status, errorOf(answer)["param"]]).toEqual([400, "language"]);
  expect(await span(answer)).toMatchObject({ status_code: 400, model: "whisper-1", customer_identifier: "ann" });
});

test.each(["en", "DE", "yue", "pt-BR", "zh_TW", "auto", ""])("P20: the language %j is accepted", async (language) => {
  expect((await send([file, model, ["language", language]])).status).toBe(200);
});

test("a model listed by a provider setting is accepted, whatever its name", async () => {
  const setting = {
    provider: "my-ears",
    base_url: "https://ears.example.com/v1",
    api_key: "sk-ears-0123456789",
    available_models: ["ears-1"],
  };
  expect((await client.post("/api/providers/", setting)).status).toBe(201);
  const answer = await send([file, ["model", "ears-1"], ["retries", "0"]]);
  // The host does not exist: only the chosen provider counts.
  expect(answer.headers.get("x-spanway-provider")).toBe("my-ears");
  const other = await send([file, ["model", "ears-2"]]);
  expect([other.status, other.headers.get("x-spanway-provider")]).toEqual([400, null]);
});

test.each([
  ["srt", "1\n00:00:00,000 --> 00:00:30,000\nHi\n\n2\n00:01:00,500 --> 01:02:03,500\nthere.\n", 3_723.5],
  ["vtt", "WEBVTT\n\n00:00.000 --> 00:30.000\nHi\n\n01:00.500 --> 02:03.250 align:start\nthere.\n", 123.25],
  ["text", "Hi there, 00:00:01,000 --> as they say", null],
])("P20: %s is charged by its last cue if the file states no duration", async (format, text, seconds) => {
  gateway.upstream.script(answers(200, text, { "content-type": "text/plain" }));
  const unknown: Part = ["file", Buffer.from("not really a recording"), { name: "a.mp3" }];
  const cost = async (part: Part): Promise<number | null> =>
    (await span(await send([part, model, ["response_format", format]])))["cost"] as number | null;
  const micros = (usd: number | null): number | null => (usd === null ? null : Math.round(usd * 1e6));
  expect(micros(await cost(unknown))).toBe(seconds === null ? null : micros((seconds / 60) * 0.006));
  // The duration in the file takes precedence.
  expect(await cost(file)).toBeCloseTo((sampleSeconds / 60) * 0.006, 5);
});
