import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { evaluationLimits } from "../../src/evaluation/limits.ts";
import { completion } from "../support/chat.ts";
import { eventually, newAutomation, newEvaluator } from "../support/evaluation.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { answers, type Script } from "../support/scripted-upstream.ts";
import { bodyOf, createSpan, retrieveSpan, settle, storeSpans } from "../support/spans.ts";
import type { ListAnswer, Row, TestClient } from "../support/test-client.ts";

/** The media of a span that a judge's provider receives. */

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

const verdict = { role: "assistant", content: '{"explanation":"A cat.","score":true}' };
const scores = answers(200, completion({ choices: [{ index: 0, message: verdict, finish_reason: "stop" }] }));
beforeEach(() => gateway.upstream.script(scores));

type Part = { type: string; text?: string } & Row;
type JudgeRequest = { model: string; messages: [unknown, { content: string | Part[] }] };
/** The requests about a text that the judge's provider received, newest last. */
const requestsAbout = (text: string): JudgeRequest[] =>
  gateway.upstream.requests.flatMap(({ body }) => (body.includes(text) ? [JSON.parse(body) as JudgeRequest] : []));
const partsOf = ({ messages: [, { content }] }: JudgeRequest): Part[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : content;
const mediaOf = (request: JudgeRequest) => partsOf(request).filter(({ type }) => type !== "text");

const judge = (client: TestClient, fields: Row = {}) =>
  newEvaluator(client, {
    type: "llm",
    score_value_type: "boolean",
    code_config: null,
    llm_config: {
      model: "gpt-4o-mini",
      evaluator_definition: "Input: {{input}}\nOutput: {{output}}\nMetadata: {{metadata.page}}",
      ...fields,
    },
  });
const run = async (client: TestClient, { evaluator_slug: slug }: Row, inputs: Row): Promise<Row> =>
  bodyOf(await client.post(`/api/evaluators/${String(slug)}/run/`, { inputs }));

const fileOf = (head: string | Buffer, bytes: number) => Buffer.concat([Buffer.from(head), randomBytes(bytes)]);
const pngHead = Buffer.from("89504e470d0a1a0a", "hex");
const png = (bytes = 100_000) => fileOf(pngHead, bytes);
const uriOf = (bytes: Buffer, type = "image/png") => `data:${type};base64,${bytes.toString("base64")}`;
const mp3 = readFileSync(new URL("../fixtures/audio/sample1.mp3", import.meta.url));
const messageWith = (...parts: Row[]) => [{ role: "user", content: [{ type: "text", text: "What is it?" }, ...parts] }];
const imagePart = (bytes: Buffer) => ({ type: "image_url", image_url: { url: uriOf(bytes) } });
const lines = (base64: string) => base64.replaceAll(/.{1,76}/g, "$&\n");

const [large, small, jpeg] = [png(), png(3_000), fileOf(Buffer.from("ffd8ffe0", "hex"), 100_000)];
const [pdf, wav] = [fileOf("%PDF-1.7\n", 100_000), fileOf("RIFF1234WAVEfmt ", 60_000)];
const pdfPart = {
  type: "file",
  file: { filename: expect.stringMatching(/\.pdf$/), file_data: uriOf(pdf, "application/pdf") },
};

const kinds: [name: string, span: Row, parts: Row[]][] = [
  ["an image", { prompt_messages: messageWith(imagePart(large)) }, [imagePart(large)]],
  [
    "a small image, which is stored in its span",
    { prompt_messages: messageWith(imagePart(small)) },
    [imagePart(small)],
  ],
  [
    "two images",
    { prompt_messages: messageWith(imagePart(large), imagePart(small)) },
    [imagePart(large), imagePart(small)],
  ],
  [
    "an image that every turn repeats",
    { prompt_messages: [...messageWith(imagePart(large)), ...messageWith(imagePart(large))] },
    [imagePart(large)],
  ],
  [
    "an image with line breaks",
    {
      prompt_messages: messageWith({
        type: "image_url",
        image_url: { url: `data:image/png;base64,${lines(large.toString("base64"))}` },
      }),
    },
    [imagePart(large)],
  ],
  [
    "an image of Anthropic's form that is declared otherwise",
    {
      prompt_messages: messageWith({
        type: "image",
        source: { type: "base64", media_type: "image/png", data: jpeg.toString("base64") },
      }),
    },
    [{ type: "image_url", image_url: { url: uriOf(jpeg, "image/jpeg") } }],
  ],
  [
    "an image in base64url",
    { input: JSON.stringify({ mime_type: "image/png", data: large.toString("base64url") }) },
    [imagePart(large)],
  ],
  ["an image that was drawn", { output: `Here it is: ![cat](${uriOf(large)})` }, [imagePart(large)]],
  ["an image in the metadata", { metadata: { page: uriOf(large) } }, [imagePart(large)]],
  [
    "an MP3 recording",
    {
      prompt_messages: messageWith({
        type: "input_audio",
        input_audio: { data: mp3.toString("base64"), format: "mp3" },
      }),
    },
    [{ type: "input_audio", input_audio: { data: mp3.toString("base64"), format: "mp3" } }],
  ],
  [
    "a WAV recording",
    {
      prompt_messages: messageWith({
        type: "input_audio",
        input_audio: { data: wav.toString("base64"), format: "wav" },
      }),
    },
    [{ type: "input_audio", input_audio: { data: wav.toString("base64"), format: "wav" } }],
  ],
  [
    "a PDF",
    {
      prompt_messages: messageWith({
        type: "file",
        file: { filename: "a.pdf", file_data: uriOf(pdf, "application/pdf") },
      }),
    },
    [pdfPart],
  ],
  ["no media", { input: "plain" }, []],
  [
    "a link to a picture",
    { prompt_messages: messageWith({ type: "image_url", image_url: { url: "https://example.com/a.png" } }) },
    [],
  ],
];

describe("O24: a judge of an automation receives", () => {
  let client: TestClient;
  const scoreOf = new Map<unknown, Row>();
  const nameOf = (name: string) => `the span with ${name}.`;
  beforeAll(async () => {
    gateway.upstream.script(scores);
    client = (await gateway.app.newOrganization()).prod;
    const evaluator = await judge(client, {
      evaluator_definition: "{{metadata.name}} {{input}} {{output}} {{metadata.page}}",
    });
    await newAutomation(client, { evaluator_ids: [evaluator["id"]] });
    const ids = new Map<string, unknown>();
    for (const [name, span] of kinds) {
      const metadata = { name: nameOf(name), ...(span["metadata"] as Row | undefined) };
      ids.set(name, (await createSpan(client, { log_type: "chat", ...span, metadata }))["unique_id"]);
    }
    const all = await eventually(async () => {
      const answer = (await client.get("/api/scores/?page_size=100")).json as ListAnswer;
      return answer.count >= kinds.length ? answer : undefined;
    }, 30_000);
    for (const [name, id] of ids) scoreOf.set(name, all.results.find(({ log_id }) => log_id === id) ?? {});
  }, 60_000);

  test.each(kinds)("%s", (name, _span, expected) => {
    expect(scoreOf.get(name)).toMatchObject({ status: "success", boolean_value: true, explanation: "A cat." });
    const [judgeRequest, ...others] = requestsAbout(nameOf(name));
    expect(others).toEqual([]);
    expect(mediaOf(judgeRequest!)).toEqual(expected);
    // The texts contain no base64, and no provider is sent a URL of this server.
    const texts = partsOf(judgeRequest!).flatMap(({ text }) => text ?? []);
    expect(texts.join("").length).toBeLessThan(2_000);
    expect(JSON.stringify(mediaOf(judgeRequest!))).not.toContain("/api/media/");
    expect(typeof judgeRequest?.messages[1].content).toBe(expected.length === 0 ? "string" : "object");
    // Each follows its reference in the prompt.
    for (const label of texts.slice(1)) expect(texts[0]).toContain(label.replace(/:$/, ""));
    expect(texts).toHaveLength(expected.length + 1);
  });

  test("and the record of its own call stores the picture once", async () => {
    const ofJudges = { log_method: { operator: "", value: ["evaluation"] } };
    const { results } = await client.waitForSpans(kinds.length, ofJudges);
    const record = results.find((row) => JSON.stringify(row).includes(nameOf("an image")));
    const text = JSON.stringify(record?.["prompt_messages"]);
    expect(text.length).toBeLessThan(5_000);
    expect(new Set(text.match(/\/api\/media\/[0-9a-f]{64}\//g)).size).toBe(1);
  });
});

describe("a picture that a judge cannot receive is named in the prompt and in the explanation:", () => {
  const refusesParts: Script = (connection, request) =>
    Array.isArray((JSON.parse(request.body) as JudgeRequest).messages[1].content)
      ? answers(400, { error: { message: "image_url is not supported", type: "invalid_request_error" } })(
          connection,
          request,
        )
      : scores(connection, request);
  const tooLarge = png(Math.ceil(evaluationLimits.judgeMediaChars * 0.75));
  const many = Array.from({ length: evaluationLimits.judgeMedia + 3 }, () => imagePart(png(2_000)));
  const notShown = /A cat\.\n\nNot shown to the judge: \/api\/media\/[0-9a-f]{64}\/ \((.*)\)/s;

  test.each<[name: string, parts: Row[], reason: string | RegExp, shown: number, script?: Script]>([
    ["too large", [imagePart(tooLarge)], "more than 8 MiB of base64", 0],
    ["too large, beside one that is not", [imagePart(tooLarge), imagePart(large)], "more than 8 MiB of base64", 1],
    ["too many", many, /^more than 20 are not shown\), .* \(more than 20 are not shown/, 20],
    [
      "no picture at all",
      [{ type: "image_url", image_url: { url: uriOf(Buffer.from("<html>".repeat(20_000))) } }],
      /no PNG, JPEG/,
      0,
    ],
    [
      "a video",
      [{ type: "video_url", video_url: { url: uriOf(fileOf("\0\0\0\u0018ftypmp42", 90_000), "video/mp4") } }],
      /no PNG, JPEG/,
      0,
    ],
    ["refused by the model", [imagePart(large)], /^refused: .*image_url is not supported/, 0, refusesParts],
  ])("%s", async (name, parts, reason, shown, script = scores) => {
    gateway.upstream.script(script);
    const { prod: client } = await gateway.app.newOrganization();
    const { unique_id } = await createSpan(client, { prompt_messages: messageWith(...parts), span_name: name });
    await settle(client);
    const { prompt_messages: messages } = await retrieveSpan(client, unique_id);
    const outcome = await run(client, await judge(client), { input: messages, output: `about ${name}`, metadata: {} });
    expect(outcome).toMatchObject({ status: "success", boolean_value: true });
    const [, notShownReason] = notShown.exec(String(outcome["explanation"])) ?? [];
    expect(notShownReason).toMatch(reason);
    const judgeRequest = requestsAbout(`about ${name}`).at(-1)!;
    expect(mediaOf(judgeRequest)).toHaveLength(shown);
    expect(partsOf(judgeRequest)[0]?.text).toMatch(/Not shown to the judge: \/api\/media\//);
  });

  test("of another organization, of a deleted trace, or of no organization", async () => {
    const [owner, other] = [(await gateway.app.newOrganization()).prod, (await gateway.app.newOrganization()).prod];
    const spanOf = (trace: string): Row => ({ trace_unique_id: trace, span_unique_id: "s", input: uriOf(png()) });
    await storeSpans(owner, [spanOf("kept"), spanOf("deleted")]);
    const referenceIn = async (trace: string) => {
      const { results } = await owner.list({ trace_unique_id: [trace] });
      return String((await retrieveSpan(owner, results[0]?.["unique_id"]))["input"]);
    };
    const [retained, deleted] = [await referenceIn("kept"), await referenceIn("deleted")];
    await owner.request("DELETE", "/api/traces/deleted/?start_time=2000-01-01");
    const runOf = async (client: TestClient, input: string) => {
      const { explanation } = await run(client, await judge(client), { input });
      return [explanation, mediaOf(requestsAbout(input).at(-1)!).length];
    };
    expect(await runOf(owner, retained)).toEqual(["A cat.", 1]);
    const nobodys = `/api/media/${"0".repeat(64)}/`;
    for (const [client, at] of [
      [other, retained],
      [owner, deleted],
      [owner, nobodys],
    ] as const)
      expect(await runOf(client, at)).toEqual([`A cat.\n\nNot shown to the judge: ${at} (not found).`, 0]);
  });
});

test("a judge with another wire format receives the picture in its own form", async () => {
  const { prod: client } = await gateway.app.newOrganization();
  const evaluator = await judge(client, { model: "anthropic/claude-sonnet-4-5" });
  const image = png(2_000);
  await run(client, evaluator, { input: messageWith(imagePart(image)), output: "about Claude" });
  const [judgeRequest] = requestsAbout("about Claude");
  expect(JSON.stringify(judgeRequest)).toContain(JSON.stringify(image.toString("base64")));
  expect(JSON.stringify(judgeRequest)).toContain('"media_type":"image/png"');
});

test("a picture counts in the reservation of the daily budget", async () => {
  const { prod: client } = await gateway.app.newOrganization();
  const llm = { evaluator_definition: "about the budget {{input}}", max_tokens: 50 };
  const evaluator = await judge(client, llm);
  await newAutomation(client, {
    evaluator_ids: [evaluator["id"]],
    // One picture is at most 50,000 tokens of this model, which cost $0.0075.
    configuration: { sampling_rate: 1, daily_budget: 0.01 },
  });
  const blocked = Promise.withResolvers<void>();
  gateway.upstream.script(async (...call) => {
    await blocked.promise;
    return await scores(...call);
  });
  const judgeRequest = () => requestsAbout("about the budget");
  for (const _ of [1, 2, 3])
    await createSpan(client, { log_type: "chat", prompt_messages: messageWith(imagePart(large)) });
  await eventually(() => Promise.resolve(judgeRequest().length > 0 || undefined));
  await sleep(1_500);
  expect(judgeRequest()).toHaveLength(1);
  blocked.resolve();
  await eventually(() => Promise.resolve(judgeRequest().length === 3 || undefined));
});

test("code and rules see the reference as text", async () => {
  const { prod: client } = await gateway.app.newOrganization();
  const code = { eval_code_snippet: "function main({ input }) { return input }" };
  const evaluator = await newEvaluator(client, { score_value_type: "text", code_config: code });
  await newAutomation(client, { evaluator_ids: [evaluator["id"]] });
  await createSpan(client, { log_type: "chat", input: `see ${uriOf(large)}` });
  const { results } = await eventually(async () => {
    const answer = (await client.get("/api/scores/")).json as ListAnswer;
    return answer.count > 0 ? answer : undefined;
  });
  expect(results[0]?.["string_value"]).toMatch(/^see \/api\/media\/[0-9a-f]{64}\/$/);
});
