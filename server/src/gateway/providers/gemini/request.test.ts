import { describe, expect, test } from "vitest";
import { body, calls, refused, result, send, target, user, weather } from "./request.fixture.ts";

const third = "gemini-3-flash-preview";

describe("URL and key", () => {
  test("are those of the Gemini API, streaming or not", () => {
    const { url, headers } = send({});
    expect(url).toBe("https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent");
    expect(headers).toEqual({ "content-type": "application/json", "x-goog-api-key": "AIza-1" });
    expect(send({ stream: true }).url).toMatch(/:streamGenerateContent\?alt=sse$/);
    expect(send({}, { baseUrl: "http://proxy/v1", model: "models/x/y" }).url).toBe(
      "http://proxy/v1/models/x/y:generateContent",
    );
  });

  test("are those of Vertex AI if the credential has a project", () => {
    const vertex = (fields: Record<string, string>) => ({ credential: { apiKey: "ya29.token", fields } });
    const { url, headers } = send({}, vertex({ project: "my-project", location: "europe-west1" }));
    expect(url).toBe(
      "https://europe-west1-aiplatform.googleapis.com/v1/projects/my-project/locations/europe-west1/publishers/google/models/gemini-2.5-flash:generateContent",
    );
    expect(headers["authorization"]).toBe("Bearer ya29.token");
    expect(send({}, vertex({ project: "p" })).url).toMatch(/^https:\/\/aiplatform\.googleapis\.com\/.*\/global\//);
    expect(send({}, { ...vertex({ project: "p" }), baseUrl: "http://own" }).url).toMatch(
      /^http:\/\/own\/v1\/projects\//,
    );
    for (const location of ["evil.com/", "a.b", "x@y", "a#"]) {
      expect(refused({}, vertex({ project: "p", location }))).toBe("location");
    }
  });
});

describe("messages", () => {
  test("are system text and turns of user and model", () => {
    const messages = [
      { role: "system", content: "Be brief." },
      user("Hi"),
      { role: "assistant", content: "Hello" },
      user([{ type: "text", text: "Bye" }]),
    ];
    const sent = body({ messages });
    expect(sent["systemInstruction"]).toEqual({ parts: [{ text: "Be brief." }] });
    expect(sent.contents).toEqual([
      { role: "user", parts: [{ text: "Hi" }] },
      { role: "model", parts: [{ text: "Hello" }] },
      { role: "user", parts: [{ text: "Bye" }] },
    ]);
  });

  const loop = [
    user("Hi"),
    calls({ id: "a", signature: "c2ln" }, { id: "b" }),
    result("b"),
    result("a", '{"$ref":"#/x"}'),
  ];

  test("have results in the order of their calls, named after them, as text", () => {
    expect(body({ messages: [...loop, user("So?")] }).contents.slice(1)).toEqual([
      {
        role: "model",
        parts: [
          { functionCall: { name: "weather", args: { of: "a" } }, thoughtSignature: "c2ln" },
          { functionCall: { name: "weather", args: { of: "b" } } },
        ],
      },
      {
        role: "user",
        parts: [
          { functionResponse: { name: "weather", response: { output: '{"$ref":"#/x"}' } } },
          { functionResponse: { name: "weather", response: { output: "result of b" } } },
          { text: "So?" },
        ],
      },
    ]);
  });

  test("have ids, and signatures or a placeholder, if the model requires them", () => {
    expect(body({ messages: loop }, third).contents[1]?.parts).toEqual([
      { functionCall: { id: "a", name: "weather", args: { of: "a" } }, thoughtSignature: "c2ln" },
      { functionCall: { id: "b", name: "weather", args: { of: "b" } } },
    ]);
    const unsigned = [user("Hi"), calls({ id: "a" }, { id: "b" }), result("a"), result("b")];
    expect(body({ messages: unsigned }, third).contents[1]?.parts.map((part) => part["thoughtSignature"])).toEqual([
      "skip_thought_signature_validator",
      undefined,
    ]);
    expect(body({ messages: unsigned }).contents[1]?.parts[0]).not.toHaveProperty("thoughtSignature");
    expect(body({ messages: loop }, third).contents[2]?.parts[0]).toMatchObject({ functionResponse: { id: "a" } });
  });

  test("have generated images as the model's, with their signatures", () => {
    const drawn = (data: string, extra: object = {}) => ({
      type: "image_url",
      image_url: { url: `data:image/png;base64,${data}` },
      ...extra,
    });
    const signed = drawn("iVBORw0KGgo=", { extra_content: { google: { thought_signature: "c2ln" } } });
    const linked = { type: "image_url", image_url: { url: "https://a.example/b.png" } };
    const model = (assistant: object) =>
      body({ messages: [user("Draw."), { role: "assistant", ...assistant }, user("In blue.")] }).contents[1];
    expect(model({ content: "Here.", images: [signed, linked] })).toEqual({
      role: "model",
      parts: [
        { text: "Here." },
        { inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" }, thoughtSignature: "c2ln" },
        { fileData: { mimeType: "image/png", fileUri: "https://a.example/b.png" } },
      ],
    });
    const alone = { role: "model", parts: [{ inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" } }] };
    expect(model({ content: "", images: [drawn("iVBORw0KGgo=")] })).toEqual(alone);
    expect(model({ content: [drawn("iVBORw0KGgo=")] })).toEqual(alone);
    for (const images of ["x", [{ type: "text", text: "x" }], [{ type: "image_url", image_url: {} }]]) {
      const messages = [user("Draw."), { role: "assistant", content: "", images }, user("In blue.")];
      expect(refused({ messages })).toMatch(/^messages\.1\.images/);
    }
  });

  test("have images within results, or after all results for older models", () => {
    const image = { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } };
    const messages = [user("Hi"), calls({ id: "a" }, { id: "b" }), result("a", [image]), result("b")];
    const inline = { inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" } };
    expect(body({ messages }, third).contents[2]?.parts[0]).toMatchObject({ functionResponse: { parts: [inline] } });
    expect(body({ messages }).contents[2]?.parts[2]).toEqual(inline);
  });
});

describe("parts", () => {
  const part = (content: object, where = {}) => send({ messages: [user([content])] }, where).body.contents[0]?.parts[0];
  const image = (url: string) => ({ type: "image_url", image_url: { url } });
  const file = (members: object) => ({ type: "file", file: members });
  const vertex = { credential: { apiKey: "t", fields: { project: "p" } } };

  test.each<[string, object, object]>([
    ["bytes by detected type", image("data:image/png;base64,/9j/4AAQ"), { mimeType: "image/jpeg", data: "/9j/4AAQ" }],
    [
      "a PDF",
      file({ file_data: "data:application/pdf;base64,JVBERi0=" }),
      { mimeType: "application/pdf", data: "JVBERi0=" },
    ],
    ["a table", file({ file_data: "data:text/csv;base64,YSxi" }), { mimeType: "text/csv", data: "YSxi" }],
    [
      "speech",
      { type: "input_audio", input_audio: { data: "AAAA", format: "mp3" } },
      { mimeType: "audio/mp3", data: "AAAA" },
    ],
  ])("%s", (_what, content, inlineData) => {
    expect(part(content)).toEqual({ inlineData });
  });

  test.each<[string, object, object]>([
    ["a link", image("https://x.test/a.PNG?s=1"), { mimeType: "image/png", fileUri: "https://x.test/a.PNG?s=1" }],
    ["a link without a known type", image("https://x.test/a"), { fileUri: "https://x.test/a" }],
    ["a file by its name", file({ file_id: "files/abc" }), { fileUri: `${target.baseUrl}/v1beta/files/abc` }],
    [
      "an object in a bucket",
      file({ file_id: "gs://b/a.pdf" }),
      { mimeType: "application/pdf", fileUri: "gs://b/a.pdf" },
    ],
  ])("%s, which Gemini fetches", (_what, content, fileData) => {
    expect(part(content)).toEqual({ fileData });
  });

  test("are refused by name if Gemini does not support their kind", () => {
    const refusedPart = (content: object, where = {}) => refused({ messages: [user([content])] }, where);
    expect(refusedPart(file({ file_id: "file-abc123" }))).toBe("messages.0.content.0.file.file_id");
    expect(refusedPart({ type: "input_audio", input_audio: { data: "AAAA", format: "pcm16" } })).toBe(
      "messages.0.content.0.input_audio.format",
    );
    expect(refusedPart(image("https://x.test/a"), vertex)).toBe("messages.0.content.0");
    expect(refusedPart(image("gopher://x"))).toMatch(/^messages\.0\.content\.0/);
  });
});

describe("tools", () => {
  test.each([
    [undefined, undefined],
    ["auto", { mode: "AUTO" }],
    ["required", { mode: "ANY" }],
    [
      { type: "function", function: { name: "weather" } },
      { mode: "ANY", allowedFunctionNames: ["weather"] },
    ],
  ])("tool_choice %j is %j", (tool_choice, functionCallingConfig) => {
    const sent = body({ tools: [weather], tool_choice });
    expect(sent["tools"]).toEqual([
      { functionDeclarations: [{ name: "weather", parametersJsonSchema: weather.function.parameters }] },
    ]);
    expect(sent["toolConfig"]).toEqual(functionCallingConfig && { functionCallingConfig });
  });

  test("that must not be called are not sent, and one without arguments has no schema", () => {
    expect(body({ tools: [weather], tool_choice: "none" })["tools"]).toBeUndefined();
    const now = { type: "function", function: { name: "now", description: "Tells it", parameters: {} } };
    expect(body({ tools: [now] })["tools"]).toEqual([
      { functionDeclarations: [{ name: "now", description: "Tells it" }] },
    ]);
    expect(send({ tools: [weather], parallel_tool_calls: false }).adjusted).toEqual(["parallel_tool_calls"]);
  });

  test("of Gemini's own kinds are passed on, others are refused", () => {
    expect(body({ tools: [{ googleSearch: {} }, weather] })["tools"]).toMatchObject([
      { googleSearch: {} },
      { functionDeclarations: [{ name: "weather" }] },
    ]);
    expect(refused({ tools: [{ type: "web_search_preview" }] })).toBe("tools.0.type");
  });
});

describe("response_format", () => {
  const schema = { type: "object", properties: { n: { type: "integer", exclusiveMinimum: 0 } }, required: ["n"] };
  const response_format = { type: "json_schema", json_schema: { name: "n", schema } };
  const supported = {
    responseMimeType: "application/json",
    responseJsonSchema: expect.objectContaining({ required: ["n"] }) as unknown,
  };

  test("constrains the response, with tools only if the model supports it", () => {
    expect(body({ response_format }).generationConfig).toMatchObject(supported);
    expect(body({ response_format, tools: [weather] }, third).generationConfig).toMatchObject(supported);
    const old = body({ response_format, tools: [weather] });
    expect(old.generationConfig).toEqual({});
    expect(old["tools"]).toMatchObject([
      { functionDeclarations: [{ name: "weather" }, { name: "spanway_json_answer" }] },
    ]);
    expect(old["toolConfig"]).toEqual({ functionCallingConfig: { mode: "ANY" } });
    const forced = body({ response_format, tools: [weather], tool_choice: "required" }, third);
    expect(forced.generationConfig).toEqual({});
    expect(body({ response_format, tools: [weather], tool_choice: "none" }).generationConfig).toMatchObject(supported);
  });

  test("without a schema is any JSON", () => {
    const any = { response_format: { type: "json_object" } };
    expect(body(any).generationConfig).toEqual({ responseMimeType: "application/json" });
    expect(body(any)["systemInstruction"]).toBeUndefined();
    expect(JSON.stringify(body({ ...any, tools: [weather] })["systemInstruction"])).toContain("one JSON object");
    expect(body({ response_format: { type: "text" } }).generationConfig).toEqual({});
  });
});

describe("parameters", () => {
  test("have Gemini's names", () => {
    const request = {
      max_tokens: 5,
      max_completion_tokens: 7,
      temperature: 1.7,
      top_p: 0.9,
      top_k: 40,
      n: 3,
      stop: "END",
      seed: 1,
      presence_penalty: 0.5,
      frequency_penalty: -0.5,
      logprobs: true,
      top_logprobs: 2,
    };
    expect(body(request).generationConfig).toEqual({
      maxOutputTokens: 7,
      temperature: 1.7,
      topP: 0.9,
      topK: 40,
      candidateCount: 3,
      stopSequences: ["END"],
      seed: 1,
      presencePenalty: 0.5,
      frequencyPenalty: -0.5,
      responseLogprobs: true,
      logprobs: 2,
    });
    expect(send(request).adjusted).toBeUndefined();
  });

  test.each<[string, unknown]>([
    ["logit_bias", { "1": 100 }],
    ["n", 9],
    ["n", 1.5],
    ["stop", ["a", "b", "c", "d", "e", "f"]],
    ["temperature", 2.1],
    ["top_logprobs", 3],
    ["modalities", ["audio"]],
    ["reasoning_effort", "extreme"],
    ["thinking", "yes"],
  ])("%s %j is refused", (name, value) => {
    expect(refused({ [name]: value })).toBe(name);
  });

  test("service tiers flex and priority are sent to the Gemini API, but not to Vertex AI", () => {
    for (const service_tier of ["flex", "priority"]) {
      expect(send({ service_tier }).adjusted).toBeUndefined();
      expect(body({ service_tier })["service_tier"]).toBe(service_tier);
    }
    const vertex = { credential: { apiKey: "ya29.token", fields: { project: "p" } } };
    for (const sent of [send({ service_tier: "flex" }, vertex), send({ service_tier: "scale" })]) {
      expect(sent.adjusted).toEqual(["service_tier"]);
      expect(sent.body).not.toHaveProperty("service_tier");
    }
    for (const service_tier of ["auto", "default", "standard", null]) {
      const sent = send({ service_tier });
      expect(sent.adjusted).toBeUndefined();
      expect(sent.body).not.toHaveProperty("service_tier");
    }
  });

  test("modalities request generated images", () => {
    const config = (modalities: unknown) => body({ modalities }).generationConfig;
    expect(config(["image", "text"])).toEqual({ responseModalities: ["IMAGE", "TEXT"] });
    expect(config(["text"])).toEqual({});
  });

  test("that are Gemini's own are passed on, including those of its OpenAI-compatible API", () => {
    const safety = [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }];
    expect(body({ safetySettings: safety, labels: { a: "b" } })).toMatchObject({
      safetySettings: safety,
      labels: { a: "b" },
    });
    expect(body({ generationConfig: { mediaResolution: "LOW" }, seed: 1 }).generationConfig).toEqual({
      mediaResolution: "LOW",
      seed: 1,
    });
    const google = {
      cached_content: "cachedContents/1",
      safety_settings: safety,
      thinking_config: { thinking_budget: 5 },
    };
    const sent = body({ extra_body: { google }, reasoning_effort: "low" });
    expect(sent).toMatchObject({ cachedContent: "cachedContents/1", safetySettings: safety });
    expect(sent.generationConfig["thinkingConfig"]).toEqual({ thinking_budget: 5 });
    expect(sent["extra_body"]).toBeUndefined();
    expect(send({ metadata: { a: "b" }, user: "u", store: true }).adjusted).toEqual(["user", "store"]);
  });

  test.each<[string, string, object | undefined, string[] | undefined]>([
    ["gemini-2.5-flash", "none", { thinkingBudget: 0 }, undefined],
    ["gemini-2.5-flash", "medium", { thinkingBudget: 8_192, includeThoughts: true }, undefined],
    ["gemini-2.5-pro", "none", { thinkingBudget: 128 }, ["reasoning_effort"]],
    ["gemini-3-flash-preview", "none", { thinkingLevel: "minimal" }, ["reasoning_effort"]],
    ["gemini-3-flash-preview", "minimal", { thinkingLevel: "minimal", includeThoughts: true }, undefined],
    ["gemini-3.7-flash", "minimal", { thinkingLevel: "low", includeThoughts: true }, ["reasoning_effort"]],
    ["gemini-3.1-pro-preview", "xhigh", { thinkingLevel: "high", includeThoughts: true }, undefined],
    ["gemini-3-pro-preview", "medium", { thinkingLevel: "low", includeThoughts: true }, ["reasoning_effort"]],
    ["gemini-2.0-flash", "high", undefined, ["reasoning_effort"]],
    ["gemini-2.0-flash", "none", undefined, undefined],
  ])("%s thinks with effort %s as %j", (model, reasoning_effort, thinkingConfig, adjusted) => {
    const call = send({ reasoning_effort }, { model });
    expect(call.body.generationConfig["thinkingConfig"]).toEqual(thinkingConfig);
    expect(call.adjusted).toEqual(adjusted);
  });

  test("thinking in Anthropic's form becomes a budget", () => {
    const config = (thinking: object) => body({ thinking }).generationConfig["thinkingConfig"];
    expect(config({ type: "enabled", budget_tokens: 900 })).toEqual({ thinkingBudget: 900, includeThoughts: true });
    expect(config({ type: "disabled" })).toEqual({ thinkingBudget: 0 });
    expect(config({ type: "adaptive" })).toEqual({ includeThoughts: true });
  });
});
