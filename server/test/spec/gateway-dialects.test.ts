import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { keylessProviders, openaiShaped } from "../../src/gateway/providers/quirks.ts";
import { providers } from "../../src/config/variables.ts";
import { completion, done, helloStream, question, usageChunk } from "../support/chat.ts";
import { answers, startScriptedUpstream, streams, type ScriptedUpstream } from "../support/scripted-upstream.ts";
import { retrieveSpan } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { Answer, Row } from "../support/test-client.ts";

type Shaped = Exclude<keyof typeof openaiShaped, "custom">;
const keyOf = (provider: string): string => `key-of-${provider}-0123456789`;
const shaped = Object.keys(openaiShaped).filter((name): name is Shaped => name !== "custom");

let app: TestApp;
let upstream: ScriptedUpstream;
beforeAll(async () => {
  upstream = await startScriptedUpstream();
  const variables = shaped.flatMap((name) => [
    ...(keylessProviders.has(name) ? [] : [[`${providers[name]}_API_KEY`, keyOf(name)]]),
    [`${providers[name]}_BASE_URL`, `${upstream.url}/${name}`],
  ]);
  app = await startTestApp(Object.fromEntries(variables) as Record<string, string>);
  upstream.script(answers(200, completion()));
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

type Sent = { answer: Answer; body: Row; path: string; adjusted: string[]; headers: Record<string, string> };

async function send(model: string, members: Row = {}, headers: Record<string, string> = {}): Promise<Sent> {
  const before = upstream.requests.length;
  const answer = await app.prod.post("/v1/chat/completions", { model, messages: [question], ...members }, headers);
  const request = upstream.requests.length > before ? upstream.requests.at(-1) : undefined;
  return {
    answer,
    body: JSON.parse(request?.body ?? "{}") as Row,
    path: request?.path ?? "",
    adjusted: (answer.headers.get("x-spanway-adjusted") ?? "").split(", ").filter((name) => name !== ""),
    headers: request?.headers ?? {},
  };
}

const modelOf: Partial<Record<Shaped, string>> = { openai: "gpt-4o", cloudflare: "@cf/meta/llama-4-scout" };
const nameOf = (provider: Shaped): string => `${provider}/${modelOf[provider] ?? "some-model"}`;

/** An assistant message with every member that Spanway writes into responses, and cache markers. */
const served = (content: unknown = "Let me look."): Row => ({
  role: "assistant",
  content,
  refusal: null,
  reasoning_content: "I should look.",
  thinking_blocks: [{ type: "thinking", thinking: "I should look.", signature: "sig" }],
  images: [{ type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } }],
  annotations: [
    { type: "url_citation", url_citation: { url: "https://a.example", title: "", start_index: 0, end_index: 1 } },
  ],
  tool_calls: [
    {
      id: "toolu_01A09q90qw90lq917835lq9",
      type: "function",
      function: { name: "look", arguments: "{}" },
      extra_content: { google: { thought_signature: "EpEg" } },
    },
  ],
});
const history = [
  { role: "system", content: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }] },
  { role: "user", content: "Look." },
  served(),
  { role: "tool", tool_call_id: "toolu_01A09q90qw90lq917835lq9", content: "Seen." },
  { role: "user", content: "And?" },
];
const tools = [
  {
    type: "function",
    function: { name: "look", parameters: { type: "object" } },
    cache_control: { type: "ephemeral" },
  },
];

const vendors = [
  ...(["moonshot", "dashscope", "zhipu", "minimax", "cohere", "nvidia", "huggingface", "sambanova"] as const),
  ...(["cloudflare", "github", "deepinfra", "nebius", "novita", "hyperbolic", "baseten", "databricks"] as const),
  ...(["lmstudio", "llamacpp"] as const),
];
test("vendors with an API like OpenAI's are providers of their own, with a dialect, and a base URL where all customers share it", async () => {
  const listed = (await app.prod.get("/api/providers/known/")).json as { results: Row[] };
  const known = new Map(listed.results.map(({ provider, ...rest }) => [provider, rest]));
  for (const vendor of vendors) {
    expect([vendor, known.get(vendor)]).toEqual([vendor, expect.objectContaining({ is_built_in: true })]);
    const isOfCustomer = vendor === "cloudflare" || vendor === "databricks";
    expect([vendor, typeof openaiShaped[vendor].baseUrl === "string"]).toEqual([vendor, !isOfCustomer]);
    expect([vendor, openaiShaped[vendor].dialect === openaiShaped.custom.dialect]).toEqual([vendor, false]);
  }
});

/** The members that each provider accepts back, according to its documentation. */
const takesBack: Partial<Record<Shaped, string[]>> = {
  openrouter: ["reasoning_content", "images", "annotations", "cache_control"],
  dashscope: ["reasoning_content", "cache_control"],
  ...Object.fromEntries(
    "deepseek xai moonshot zhipu minimax together fireworks deepinfra nebius novita hyperbolic baseten ollama vllm lmstudio llamacpp"
      .split(" ")
      .map((name) => [name, ["reasoning_content"]]),
  ),
};

test.each(shaped.filter((name) => name !== "perplexity"))(
  "P1: members of another provider's response are passed to %s only if it accepts them; the header names the rest",
  async (provider) => {
    const { answer, body, adjusted } = await send(nameOf(provider), { messages: history, tools });
    expect(answer.status).toBe(200);
    const sent = JSON.stringify(body);
    const members = ["reasoning_content", "thinking_blocks", "images", "annotations", "extra_content", "cache_control"];
    const found = members.filter((name) => sent.includes(`"${name}"`));
    expect(found).toEqual(takesBack[provider] ?? []);
    const left = members.filter((name) => !found.includes(name));
    const names = left.map(
      (name) =>
        ({ extra_content: "messages.tool_calls.extra_content", cache_control: "cache_control" })[name] ??
        `messages.${name}`,
    );
    expect(adjusted).toEqual(expect.arrayContaining(names));
    const assistant = (body["messages"] as Row[]).find(({ tool_calls }) => tool_calls !== undefined);
    expect(assistant).toMatchObject({ content: "Let me look.", tool_calls: [{ function: { name: "look" } }] });
  },
);

test.each(shaped)("P1: %s never receives the members without a value that SDKs send back", async (provider) => {
  const empty = { function_call: null, name: null, refusal: null };
  const messages = [
    { role: "user", content: "Hi.", tool_calls: null, name: null },
    { role: "assistant", content: "Hello.", tool_calls: null, ...empty },
    { role: "user", content: "And?" },
    { role: "assistant", content: "So.", tool_calls: [], ...empty },
    { role: "user", content: "Well?" },
  ];
  const { answer, body, adjusted } = await send(nameOf(provider), { messages });
  expect([answer.status, adjusted]).toEqual([200, []]);
  expect(JSON.stringify(body["messages"])).not.toMatch(/tool_calls|function_call|"name"|reasoning/);
  expect((body["messages"] as Row[]).map(({ content }) => content)).toEqual(messages.map(({ content }) => content));
});

test("P1: a conversation without foreign members is passed on byte for byte", async () => {
  const text = `{ "model":"some-model", "messages":[{"role":"user","content":"h\\u00e9"},{"role":"assistant","content":"x","tool_calls":[{"id":"abcdefghi","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"abcdefghi","content":"1"}], "max_tokens": 9 }`;
  for (const provider of ["groq", "mistral", "azure", "deepinfra", "lmstudio"]) {
    const before = upstream.requests.length;
    const answer = await app.prod.post("/v1/chat/completions", text, { "x-svc-route-provider": provider });
    expect([provider, answer.status, upstream.requests.length]).toEqual([provider, 200, before + 1]);
    expect(upstream.requests.at(-1)?.body).toBe(text);
    expect(answer.headers.get("x-spanway-adjusted")).toBeNull();
  }
});

describe("members of another dialect", () => {
  const foreign = {
    thinking: { type: "enabled", budget_tokens: 2_048 },
    top_k: 5,
    output_config: { effort: "low" },
    safetySettings: [],
    generationConfig: { topK: 1 },
    cachedContent: "cachedContents/a",
    guardrailConfig: { guardrailIdentifier: "g" },
  };

  test.each(shaped)("P2: are omitted or mapped for %s, unless it supports them", async (provider) => {
    const { answer, body, adjusted } = await send(nameOf(provider), foreign);
    expect(answer.status).toBe(200);
    const left = Object.keys(foreign).filter((name) => !(name in body));
    expect(left).toEqual(
      expect.arrayContaining([
        "output_config",
        "safetySettings",
        "generationConfig",
        "cachedContent",
        "guardrailConfig",
      ]),
    );
    expect(adjusted).toEqual(expect.arrayContaining(left));
    expect(left.includes("thinking")).toBe(
      !["deepseek", "fireworks", "moonshot", "zhipu", "databricks"].includes(provider),
    );
  });

  test("P2: a thinking budget is mapped to the provider's setting", async () => {
    const thinking = { thinking: { type: "enabled", budget_tokens: 2_048 } };
    expect((await send("openai/gpt-5", thinking)).body).toMatchObject({ reasoning_effort: "low" });
    expect((await send("openrouter/x/y", thinking)).body).toMatchObject({ reasoning: { max_tokens: 2_048 } });
    const qwen = await send("dashscope/qwen3-max", thinking);
    expect(qwen.body).toMatchObject({ enable_thinking: true, thinking_budget: 2_048 });
    expect((await send("dashscope/qwen3-max", { thinking: { type: "disabled" } })).body["enable_thinking"]).toBe(false);
    expect((await send("openai/gpt-4o", thinking)).body).not.toHaveProperty("reasoning_effort");
  });

  test.each<[model: string, members: Row, sent: Row, left: string[], adjusted: string[]]>([
    ["openai/o3", { max_tokens: 9 }, { max_completion_tokens: 9 }, ["max_tokens"], ["max_tokens"]],
    [
      "openai/gpt-5-mini",
      { max_tokens: 9, temperature: 0.2 },
      { max_completion_tokens: 9 },
      ["temperature"],
      ["temperature", "max_tokens"],
    ],
    ["azure/o3-mini", { max_tokens: 9 }, { max_completion_tokens: 9 }, ["max_tokens"], ["max_tokens"]],
    ["github/openai/gpt-5-mini", { max_tokens: 9 }, { max_completion_tokens: 9 }, ["max_tokens"], ["max_tokens"]],
    ["openai/gpt-5-chat-latest", { max_tokens: 9 }, { max_tokens: 9 }, [], []],
    ["openai/gpt-4o", { max_tokens: 9, seed: 1, user: "u" }, { max_tokens: 9, seed: 1, user: "u" }, [], []],
    [
      "mistral/m",
      { max_completion_tokens: 9 },
      { max_tokens: 9 },
      ["max_completion_tokens"],
      ["max_completion_tokens"],
    ],
    ["mistral/m", { seed: 7, user: "u" }, { random_seed: 7 }, ["seed", "user"], ["seed", "user"]],
    ["mistral/m", { reasoning_effort: "low" }, { reasoning_effort: "high" }, [], ["reasoning_effort"]],
    [
      "cerebras/m",
      { max_tokens: 9, presence_penalty: 1 },
      { max_completion_tokens: 9 },
      ["presence_penalty"],
      ["presence_penalty", "max_tokens"],
    ],
    ["together/m", { max_completion_tokens: 9, top_k: 4 }, { max_tokens: 9, top_k: 4 }, [], ["max_completion_tokens"]],
    ["moonshot/kimi-k2.6", { temperature: 0.3 }, {}, ["temperature"], ["temperature"]],
    ["moonshot/moonshot-v1-8k", { temperature: 1.7 }, { temperature: 1 }, [], ["temperature"]],
    ["minimax/m", { temperature: 0 }, { temperature: 0.01 }, [], ["temperature"]],
    ["zhipu/glm", { user: "u" }, { user_id: "u" }, ["user"], ["user"]],
    [
      "xai/grok-4",
      { stop: ["x"], reasoning_effort: "low" },
      {},
      ["stop", "reasoning_effort"],
      ["stop", "reasoning_effort"],
    ],
    ["cohere/command-a", { reasoning_effort: "medium" }, { reasoning_effort: "high" }, [], ["reasoning_effort"]],
    ["groq/m", { store: true, metadata: { a: 1 }, logprobs: false, n: 1 }, {}, ["store", "logprobs", "n"], ["store"]],
  ])("P2: %s gets %j in its own form", async (model, members, sent, left, adjusted) => {
    const response = await send(model, members);
    expect(response.answer.status).toBe(200);
    expect(response.body).toMatchObject(sent);
    for (const name of left) expect(response.body).not.toHaveProperty(name);
    expect(response.adjusted.toSorted()).toEqual(adjusted.toSorted());
  });

  test.each<[model: string, members: Row, param: string]>([
    ["groq/m", { logprobs: true }, "logprobs"],
    ["groq/m", { n: 2 }, "n"],
    ["deepseek/m", { functions: [{ name: "f" }], web_search_options: {} }, "web_search_options"],
    ["perplexity/sonar", { tools }, "tools"],
    ["cerebras/m", { logit_bias: { 1: 2 } }, "logit_bias"],
  ])(
    "P2: parameters that the caller would miss are refused by name, with an alternative: %s %j",
    async (model, members, param) => {
      const { answer, path } = await send(model, members);
      expect([answer.status, path]).toEqual([400, ""]);
      expect((answer.json as { error: Row }).error).toMatchObject({ param, message: expect.stringMatching(/: \w+/) });
    },
  );

  test.each(["groq", "mistral", "deepseek", "cerebras", "moonshot", "vllm"] as const)(
    "P2: the developer is the system for %s",
    async (provider) => {
      const messages = [{ role: "developer", content: "Be brief." }, question];
      const { body, adjusted } = await send(nameOf(provider), { messages });
      expect(body["messages"]).toEqual([{ role: "system", content: "Be brief." }, question]);
      expect(adjusted).toEqual(["messages.role"]);
    },
  );

  test("P2: unsupported forms of tool_choice and response_format become the nearest supported ones", async () => {
    const required = { tools: [{ type: "function", function: { name: "look" } }], tool_choice: "required" };
    expect((await send("moonshot/m", required)).body).not.toHaveProperty("tool_choice");
    expect((await send("groq/m", required)).body["tool_choice"]).toBe("required");
    const none = await send("zhipu/m", { ...required, tool_choice: "none" });
    expect(none.body).not.toHaveProperty("tools");
    expect(none.adjusted).toEqual(["tool_choice"]);
    const schema = { type: "object", properties: { city: { type: "string" } } };
    const json = { response_format: { type: "json_schema", json_schema: { name: "c", schema } } };
    const answered = await send("deepseek/deepseek-chat", json);
    expect(answered.body).toMatchObject({ response_format: { type: "json_object" } });
    expect(JSON.stringify(answered.body["messages"])).toContain(JSON.stringify(JSON.stringify(schema)).slice(1, -1));
    expect(answered.adjusted).toEqual(["response_format"]);
    const any = await send("perplexity/sonar", { response_format: { type: "json_object" } });
    expect(any.body).toMatchObject({ response_format: { type: "json_schema" } });
  });
});

test("P1: for Mistral, foreign call ids are rewritten, results stay with their calls, and a user never follows a tool", async () => {
  const { body } = await send("mistral/mistral-large-latest", { messages: history });
  const messages = body["messages"] as Row[];
  const [call] = messages.flatMap(({ tool_calls }) => (tool_calls as Row[] | undefined) ?? []);
  expect(call?.["id"]).toMatch(/^[A-Za-z0-9]{9}$/);
  expect(messages.find(({ role }) => role === "tool")?.["tool_call_id"]).toBe(call?.["id"]);
  expect(messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool", "assistant", "user"]);
});

test("P1: calls that another model made without thinking are accepted by models that require it", async () => {
  const { reasoning_content: _thought, ...plain } = served();
  const { body } = await send("deepseek/deepseek-chat", { messages: [history[1], plain, history[3]] });
  expect((body["messages"] as Row[])[1]).toMatchObject({ reasoning_content: " " });
});

test("P1: call ids that are too long are shortened, and results stay with their calls", async () => {
  const id = `call_${"x".repeat(60)}`;
  const call = { id, type: "function", function: { name: "look", arguments: "{}" } };
  const messages = [
    question,
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "tool", tool_call_id: id, content: "1" },
  ];
  for (const model of ["openai/gpt-4o", "groq/m"]) {
    const sent = (await send(model, { messages })).body["messages"] as Row[];
    const [made] = (sent[1]?.["tool_calls"] ?? []) as Row[];
    expect(String(made?.["id"]).length).toBeLessThanOrEqual(40);
    expect(sent[2]?.["tool_call_id"]).toBe(made?.["id"]);
  }
});

test("P2: an empty list of tools is omitted, with everything about tools", async () => {
  const empty = { tools: [], parallel_tool_calls: true };
  for (const model of ["openai/gpt-4o", "mistral/m"]) {
    const none = await send(model, { ...empty, tool_choice: "auto" });
    expect([Object.keys(none.body), none.adjusted]).toEqual([["model", "messages"], []]);
    expect((await send(model, { ...empty, tool_choice: "required" })).adjusted).toEqual(["tool_choice"]);
  }
});

describe("system messages in the middle of a conversation", () => {
  const messages = [
    { role: "system", content: "One." },
    { role: "user", content: "Two." },
    { role: "assistant", content: "Three." },
    { role: "system", content: "Four." },
    { role: "user", content: "Five." },
  ];

  test.each(shaped.filter((name) => name !== "perplexity"))("P13: keep their place for %s", async (provider) => {
    const { body, adjusted } = await send(nameOf(provider), { messages });
    expect([body["messages"], adjusted]).toEqual([messages, []]);
  });

  test("P13: move to the beginning for providers that accept them only there, and the header says so", async () => {
    const { body, adjusted } = await send("perplexity/sonar", { messages });
    expect((body["messages"] as Row[]).map(({ content }) => content)).toEqual([
      "One.",
      "Four.",
      "Two.",
      "Three.",
      "Five.",
    ]);
    expect(adjusted).toEqual(["messages.system"]);
  });
});

test.each(shaped)("%s is called at its own path with its key; a server of one's own needs none", async (provider) => {
  const { answer, path, headers } = await send(nameOf(provider));
  expect([answer.status, path]).toEqual([200, expect.stringMatching(`^/${provider}/.*chat/completions`)]);
  const key = provider === "azure" ? keyOf(provider) : `Bearer ${keyOf(provider)}`;
  const sent = headers[provider === "azure" ? "api-key" : "authorization"];
  expect(sent).toBe(keylessProviders.has(provider) ? undefined : key);
});

test.each(["llama.cpp/gemma", "lm-studio/openai/gpt-oss-20b", "kimi/kimi-k3", "z-ai/glm-5", "nvidia_nim/meta/llama"])(
  "%s is another spelling of a provider",
  async (model) => {
    expect((await send(model)).answer.status).toBe(200);
  },
);

test("Cloudflare's base URL is derived from the account: a setting needs the account or a URL", async () => {
  const setting = { provider: "cloudflare", api_key: "k-0123456789" };
  const incomplete = await app.prod.post("/api/providers/", { ...setting, account_id: "mine" });
  expect([incomplete.status < 500, incomplete.text]).toEqual([true, expect.stringContaining("account_id")]);
  const complete = { ...setting, account_id: "0123456789abcdef0123456789abcdef" };
  expect((await app.prod.post("/api/providers/", complete)).status).toBeLessThan(300);
});

describe("native parts of other wire formats", () => {
  const png = { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } };
  const pdf = {
    type: "document",
    source: { type: "base64", media_type: "application/pdf", data: "JVBERi0=" },
    title: "a.pdf",
  };
  const text = { type: "document", source: { type: "text", media_type: "text/plain", data: "Notes." } };
  const sendContent = (model: string, ...content: unknown[]) => send(model, { messages: [{ role: "user", content }] });
  const contentOf = ({ body }: Sent): unknown => (body["messages"] as Row[] | undefined)?.[0]?.["content"];

  test("P18: are sent in the best form that the provider supports", async () => {
    expect(contentOf(await sendContent("openai/gpt-4o", png, pdf, text))).toEqual([
      { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } },
      { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERi0=" } },
      { type: "text", text: "Notes." },
    ]);
    expect(contentOf(await sendContent("deepseek/deepseek-chat", { type: "input_text", text: "Hi." }, text))).toBe(
      "Hi.\nNotes.",
    );
  });

  test.each([
    ["groq/m", pdf],
    ["deepseek/deepseek-chat", png],
    ["groq/m", { type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } }],
    ["openai/gpt-4o", { type: "hologram" }],
  ])("P18: are refused by name, with what can be sent instead: %s %j", async (model, part) => {
    const { answer, path } = await sendContent(model, part);
    expect([answer.status, path]).toEqual([400, ""]);
    const { param, message } = (answer.json as { error: Row }).error;
    expect(param).toBe("messages.0.content.0.type");
    expect(message).toMatch(/send text/);
  });
});

describe("M12: the cost that OpenRouter states of a call", () => {
  afterAll(() => upstream.script(answers(200, completion())));

  test.each([
    [0, false, /^$/],
    [0, true, /^$/],
    [5, false, /factor of 100/],
    [5, true, /factor of 100/],
  ])("%d is what the call costs (stream: %j), with a mark if it is absurd", async (cost, stream, mark) => {
    const usage = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100, cost, is_byok: false };
    upstream.script(stream ? streams(...helloStream, usageChunk(usage), done) : answers(200, completion({ usage })));
    const { answer } = await send("openrouter/openai/gpt-4o", { stream });
    const span = await retrieveSpan(app.prod, answer.headers.get("x-spanway-log-id"));
    expect([span["cost"], span["unpriced"] ?? ""]).toEqual([cost, ""]);
    expect((span["cost_details"] as { assumptions: string[] }).assumptions.join()).toMatch(mark);
  });
});
