import { brotliCompressSync, gzipSync } from "node:zlib";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  chunk,
  completion,
  done,
  event,
  eventsOf,
  helloStream,
  question,
  textOf,
  usageChunk,
} from "../support/chat.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { answers, head, streamHead, streams, type Script } from "../support/scripted-upstream.ts";
import { retrieveSpan } from "../support/spans.ts";
import type { Answer, Row, TestClient } from "../support/test-client.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    SPANWAY_UPSTREAM_FIRST_BYTE_MS: "600",
    SPANWAY_UPSTREAM_IDLE_MS: "300",
    SPANWAY_UPSTREAM_TOTAL_MS: "5000",
  });
});
afterAll(() => gateway.stop());

// Each test has its own organisation, so that failures of one test do not put the credential of the next into
// cool-down.
let client: TestClient;
beforeEach(async () => {
  client = (await gateway.app.newOrganization()).prod;
});

async function complete(script: Script, members: Row = {}): Promise<Answer> {
  gateway.upstream.script(script);
  const body = { model: "gpt-4o", messages: [question], stream: true, retries: 0, ...members };
  return client.post("/api/chat/completions", body);
}
const spanOf = (answer: Answer): Promise<Row> => retrieveSpan(client, answer.headers.get("x-spanway-log-id"));
const contentOf = (span: Row): unknown => (span["completion_message"] as Row | null)?.["content"];

/** In separate writes, which the network does not merge. */
const slowly =
  (...writes: Array<string | Buffer>): Script =>
  async (connection) => {
    await connection.write(streamHead);
    for (const bytes of writes) {
      await connection.write(bytes);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return "close";
  };

describe("text beyond ASCII", () => {
  const text = "北京 🌍 naïve";
  const stream = Buffer.from(
    [chunk({ role: "assistant" }), chunk({ content: text }), chunk({}, "stop"), done].join(""),
  );

  test("survives a write for each byte: the response's bytes are the upstream's", async () => {
    const answer = await complete(slowly(...Array.from(stream, (byte) => Buffer.from([byte]))));
    expect(answer.text).toBe(stream.toString());
    expect(contentOf(await spanOf(answer))).toBe(text);
  });

  test("survives a split at every position of a character", async () => {
    const start = stream.indexOf(Buffer.from(text));
    for (let offset = start; offset <= start + Buffer.byteLength(text); offset += 1) {
      const answer = await complete(slowly(stream.subarray(0, offset), stream.subarray(offset)));
      expect(answer.text).toBe(stream.toString());
    }
  });
});

describe("keep-alives", () => {
  test("never reach the caller as data: comments, and lines that look like comments", async () => {
    const answer = await complete(
      streams(
        ": OPENROUTER PROCESSING\n\n",
        "data: : keepalive\n\n",
        "data:\n\n",
        helloStream[0] ?? "",
        ": OPENROUTER PROCESSING\n\n",
        "data: : keepalive\n\n",
        ...helloStream.slice(1),
        done,
      ),
    );
    expect(answer.text).toBe([...helloStream, done].join(""));
  });
});

describe("responses that are encoded without a request", () => {
  const codings: ReadonlyArray<[string, (bytes: Buffer) => Buffer]> = [
    ["gzip", (bytes) => gzipSync(bytes)],
    ["br", (bytes) => brotliCompressSync(bytes)],
  ];
  test.each(codings)("%s: whole, streamed and as an error", async (coding, encode) => {
    const whole = await complete(
      answers(200, encode(Buffer.from(JSON.stringify(completion()))), { "content-encoding": coding }),
      { stream: false },
    );
    expect(whole.json).toEqual(completion());
    expect(whole.headers.get("content-encoding")).toBeNull();
    expect(contentOf(await spanOf(whole))).toBe("Hello.");

    const streamed = await complete(async (connection) => {
      await connection.write(head(200, { "content-type": "text/event-stream", "content-encoding": coding }));
      await connection.write(encode(Buffer.from([...helloStream, done].join(""))));
      return "close";
    });
    expect(streamed.text).toBe([...helloStream, done].join(""));

    const body = encode(Buffer.from(JSON.stringify({ error: { message: "too long" } })));
    const refused = await complete(answers(400, body, { "content-encoding": coding }));
    expect(refused.json).toMatchObject({ error: { message: "too long" } });
  });
});

describe("usage", () => {
  const counts = (prompt_tokens: number, completion_tokens: number): Row => ({
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
  });
  const text = helloStream.slice(0, 3);

  test.each<[what: string, tail: string[]]>([
    ["alone in the last chunk", [chunk({}, "stop"), usageChunk(counts(10, 5)), done]],
    ["on the chunk with the finish", [chunk({}, "stop", { usage: counts(10, 5) }), done]],
    [
      "growing on every chunk",
      [chunk({}, null, { usage: counts(10, 2) }), chunk({}, "stop", { usage: counts(10, 5) }), done],
    ],
    ["twice, the second time larger", [chunk({}, "stop"), usageChunk(counts(10, 1)), usageChunk(counts(10, 5)), done]],
    [
      "then empty and null",
      [chunk({}, "stop", { usage: counts(10, 5) }), usageChunk({}), chunk({}, null, { usage: null }), done],
    ],
    ["before the stream closes without [DONE]", [chunk({}, "stop"), usageChunk(counts(10, 5))]],
  ])("%s: the last one with figures counts, in span and breakdown", async (_what, tail) => {
    const answer = await complete(streams(...text, ...tail), { request_breakdown: true });
    const events = eventsOf(answer.text);
    expect(events.at(-2)).toMatchObject({ request_breakdown: { prompt_tokens: 10, completion_tokens: 5 } });
    expect(await spanOf(answer)).toMatchObject({ prompt_tokens: 10, completion_tokens: 5, usage_is_estimated: null });
  });

  test.each<[Row]>([[{}], [{ stream_options: { include_usage: false } }]])(
    "is requested, and removed from the stream if the caller did not request it: %j",
    async (members) => {
      const answer = await complete(streams(...helloStream, usageChunk(), done), members);
      expect(answer.text).toBe([...helloStream, done].join(""));
      const sent = JSON.parse(gateway.upstream.requests.at(-1)?.body ?? "") as Row;
      expect(sent["stream_options"]).toEqual({ include_usage: true });
      expect(await spanOf(answer)).toMatchObject({ total_tokens: 12 });
    },
  );

  test("stays in the stream if the caller requested it", async () => {
    const all = [...helloStream, usageChunk(), done];
    expect((await complete(streams(...all), { stream_options: { include_usage: true } })).text).toBe(all.join(""));
  });

  test.each<[what: string, usage: Row, cost: number]>([
    ["of most of it", { ...counts(2006, 300), prompt_tokens_details: { cached_tokens: 1920 } }, 0.005615],
    [
      "of all but one, which xAI counts among the text too",
      { ...counts(616, 10), prompt_tokens_details: { text_tokens: 616, cached_tokens: 615, image_tokens: 0 } },
      (1 * 2.5 + 615 * 1.25 + 10 * 10) / 1e6,
    ],
    [
      "of text and images alike",
      { ...counts(1000, 10), prompt_tokens_details: { text_tokens: 600, image_tokens: 400, cached_tokens: 900 } },
      (100 * 2.5 + 900 * 1.25 + 10 * 10) / 1e6,
    ],
    ["of nothing, by the standard tier", counts(1000, 100), 0.0035],
    ["in the tier that the usage names", { ...counts(1000, 100), service_tier: "flex" }, 0.00175],
    ["with searches", { ...counts(1000, 100), server_tool_use: { web_search_requests: 2 } }, 0.0235],
  ])("costs as much as the provider's cache makes it: %s", async (_what, usage, cost) => {
    const span = await spanOf(await complete(streams(...helloStream, usageChunk(usage), done)));
    expect(span["cost"]).toBeCloseTo(cost, 12);
    expect(span["prompt_tokens"]).toBe(usage["prompt_tokens"]);
  });
});

test("the tier that served the call is charged, not the requested one", async () => {
  const usage = { prompt_tokens: 1000, completion_tokens: 100 };
  const standardUsd = 0.0035;
  for (const [served, factor] of [
    ["default", 1],
    ["flex", 0.5],
    ["priority", 1.7],
  ] as const) {
    const members = { service_tier: served };
    const streamed = streams(...helloStream, chunk({}, null, { choices: [], usage, ...members }), done);
    for (const [script, stream] of [
      [streamed, true],
      [answers(200, completion({ usage, ...members })), false],
    ] as const) {
      const answer = await complete(script, { stream, service_tier: "auto", request_breakdown: true });
      expect((await spanOf(answer))["cost"]).toBeCloseTo(standardUsd * factor, 12);
      const shown = (stream ? eventsOf(answer.text).at(-2) : answer.json) as { request_breakdown: Row };
      expect(shown.request_breakdown["cost"]).toBeCloseTo(standardUsd * factor, 12);
    }
  }
});

describe("an error before the first content", () => {
  const overloaded = event({ error: { message: "overloaded", type: "overloaded_error", code: 429 } });
  const roleOnly = chunk({ role: "assistant", content: "" });

  test.each<[what: string, writes: string[]]>([
    ["as the first event of a 200", [overloaded]],
    ["after a chunk with the role alone", [roleOnly, chunk({}), overloaded]],
    ["as a stream that ends at once", []],
    ["as a stream that is cut after the role", [roleOnly]],
    ["as a stream of [DONE] alone", [done]],
    ["as a stream of the role and [DONE]", [roleOnly, done]],
    ["as a stream of usage alone", [usageChunk(), done]],
  ])("%s lets another model answer", async (_what, writes) => {
    let calls = 0;
    const script: Script = (connection, request) => {
      calls += 1;
      return (calls === 1 ? streams(...writes) : streams(...helloStream, done))(connection, request);
    };
    const answer = await complete(script, { fallback_models: ["gpt-4o-mini"] });
    expect(answer.text).toBe([...helloStream, done].join(""));
    expect(answer.headers.get("x-spanway-attempts")).toBe("2");
    expect(answer.headers.get("x-spanway-model")).toBe("gpt-4o-mini");
    expect(await spanOf(answer)).toMatchObject({ model: "gpt-4o-mini", status_code: 200 });
  });

  test("is a 424 in JSON if every model fails", async () => {
    const answer = await complete(streams(roleOnly, overloaded));
    expect(answer.status).toBe(424);
    expect(answer.json).toMatchObject({ error: { message: "overloaded", type: "upstream_error" } });
  });
});

describe("failures after the first content", () => {
  const five = Array.from({ length: 5 }, (_, n) => chunk({ content: `${n} ` }));

  async function expectBroken(answer: Answer, sent: string[]): Promise<void> {
    expect(answer.status).toBe(200);
    const events = eventsOf(answer.text);
    expect(events.slice(0, -1)).toEqual(eventsOf(sent.join("")));
    expect(events.at(-1)).toEqual({
      error: { message: expect.any(String), type: "upstream_error", param: null, code: expect.any(String) },
    });
    expect(await spanOf(answer)).toMatchObject({
      status_code: 424,
      failed: true,
      completion_message: { content: textOf(eventsOf(sent.join(""))) || null },
      usage_is_estimated: true,
    });
  }

  test("a reset: one error event, no second model", async () => {
    const before = gateway.upstream.requests.length;
    const answer = await complete(
      async (connection) => {
        await connection.write(streamHead + five.join(""));
        await sleep(50);
        connection.reset();
        return undefined;
      },
      { fallback_models: ["gpt-4o-mini"], retries: 3 },
    );
    await expectBroken(answer, five);
    expect(gateway.upstream.requests.length).toBe(before + 1);
  });

  test("an end without a finish, in the middle of an event: no invented finish, no half event", async () => {
    await expectBroken(await complete(streams(...five, 'data: {"choices":[{"index":0,"del')), five);
  });

  test("truncated tool arguments", async () => {
    const call = { index: 0, id: "c", type: "function", function: { name: "f", arguments: '{"a' } };
    const sent = [chunk({ tool_calls: [call] })];
    await expectBroken(await complete(streams(...sent)), sent);
  });

  test("an error event of the upstream", async () => {
    await expectBroken(await complete(streams(...five, event({ error: { message: "broke", code: "x" } }))), five);
  });

  test("silence: the idle time ends it", async () => {
    const started = performance.now();
    const answer = await complete(async (connection) => {
      await connection.write(streamHead + five.join(""));
      await connection.closed(4_000);
      return undefined;
    });
    expect(performance.now() - started).toBeLessThan(2_000);
    await expectBroken(answer, five);
  });
});

describe("time", () => {
  test("to the first byte ends an attempt without a response with 424", async () => {
    const answer = await complete(async (connection) => {
      await connection.closed(4_000);
      return undefined;
    });
    expect(answer.status).toBe(424);
    expect(answer.json).toMatchObject({ error: { code: "timeout" } });
  });

  test("between pieces counts from the last one: a slow stream continues", async () => {
    const answer = await complete(async (connection) => {
      await connection.write(streamHead);
      for (const bytes of [...helloStream, done]) {
        await sleep(150);
        await connection.write(bytes);
      }
      return "close";
    });
    expect(answer.text).toBe([...helloStream, done].join(""));
  });

  test("before the first content may be longer than between pieces, because models think", async () => {
    const answer = await complete(async (connection) => {
      await connection.write(streamHead + (helloStream[0] ?? ""));
      await sleep(450);
      await connection.write([...helloStream.slice(1), done].join(""));
      return "close";
    });
    expect(answer.text).toBe([...helloStream, done].join(""));
  });

  test("the gateway does not wait for the end of the connection after [DONE]", async () => {
    const started = performance.now();
    const answer = await complete(async (connection) => {
      await connection.write(streamHead + [...helloStream, done].join(""));
      await connection.closed(4_000);
      return undefined;
    });
    expect(textOf(eventsOf(answer.text))).toBe("Hello.");
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});

test("an upstream that does not know stream_options is called without, and its tokens are estimated", async () => {
  const script: Script = (connection, request) =>
    request.body.includes("stream_options")
      ? answers(400, { error: { message: "Unrecognized request argument supplied: stream_options" } })(
          connection,
          request,
        )
      : streams(...helloStream, done)(connection, request);
  const before = gateway.upstream.requests.length;
  const first = await complete(script);
  expect(first.text).toBe([...helloStream, done].join(""));
  expect(await spanOf(first)).toMatchObject({ usage_is_estimated: true, prompt_tokens: 3, completion_tokens: 2 });
  const second = await complete(script);
  const attemptsOf = ({ headers }: typeof first): string | null => headers.get("x-spanway-attempts");
  // The head also reports the rejected attempt.
  expect([attemptsOf(first), attemptsOf(second)]).toEqual(["2", "1"]);
  // Tried once: from then on it is known.
  expect(gateway.upstream.requests.length).toBe(before + 3);
});

describe("a provider with a different wire format", () => {
  const anthropicEvent = (type: string, members: Row): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
  const usage = { input_tokens: 3, cache_creation_input_tokens: 12_304, cache_read_input_tokens: 0, output_tokens: 1 };
  const stream = [
    anthropicEvent("message_start", {
      message: { id: "msg_1", role: "assistant", model: "claude-3-7-sonnet-20250219", content: [], usage },
    }),
    anthropicEvent("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
    anthropicEvent("content_block_delta", { index: 0, delta: { type: "text_delta", text: "北京 🌍" } }),
    anthropicEvent("content_block_stop", { index: 0 }),
    anthropicEvent("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 550 } }),
    anthropicEvent("message_stop", {}),
  ].join("");
  const model = "anthropic/claude-3-7-sonnet-20250219";

  test("is streamed as OpenAI's, with usage in one last chunk on request, and priced by its cache", async () => {
    const answer = await complete(slowly(...Array.from(Buffer.from(stream), (byte) => Buffer.from([byte]))), {
      model,
      stream_options: { include_usage: true },
    });
    const events = eventsOf(answer.text);
    expect(textOf(events)).toBe("北京 🌍");
    expect(events.at(-1)).toBe("[DONE]");
    expect(events.at(-2)).toMatchObject({ choices: [], usage: { prompt_tokens: 12_307, completion_tokens: 550 } });
    expect(events.slice(0, -2).filter((each) => (each as Row)["usage"])).toEqual([]);
    expect(await spanOf(answer)).toMatchObject({
      provider_id: "anthropic",
      cost: 0.054399,
      completion_message: { content: "北京 🌍" },
    });
  });

  test("that is truncated is recorded with its stated usage, and an estimate of its content", async () => {
    const answer = await complete(streams(stream.slice(0, stream.indexOf("event: content_block_stop"))), { model });
    expect(await spanOf(answer)).toMatchObject({
      status_code: 424,
      prompt_tokens: 12_307,
      prompt_cache_creation_tokens: 12_304,
      completion_tokens: 2,
      usage_is_estimated: true,
      completion_message: { content: "北京 🌍" },
    });
  });

  test("has no usage in its stream without a request", async () => {
    const events = eventsOf((await complete(streams(stream), { model })).text);
    expect(events.filter((each) => typeof each === "object" && "usage" in (each as Row))).toEqual([]);
    expect(textOf(events)).toBe("北京 🌍");
  });
});
