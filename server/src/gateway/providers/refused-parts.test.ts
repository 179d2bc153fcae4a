import { expect, test } from "vitest";
import { ServiceError } from "../../domain/errors.ts";
import { anthropicTranslator } from "./anthropic/translator.ts";
import { bedrockTranslator } from "./bedrock/translator.ts";
import { geminiTranslator } from "./gemini/translator.ts";
import type { ChatTranslator } from "./provider.ts";

const targetOf = (provider: string) => {
  const credential = { apiKey: "k", fields: { region: "eu-west-1" } };
  return { provider, model: "m", baseUrl: "https://a.example", credential };
};

const drawn = { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } };

test.each<[string, ChatTranslator]>([
  ["anthropic", anthropicTranslator],
  ["bedrock", bedrockTranslator],
])("%s accepts no images of the assistant: they are refused by path, not dropped", (provider, translator) => {
  const request = (assistant: object) => () =>
    translator.request(
      {
        model: "m",
        messages: [
          { role: "user", content: "Draw." },
          { role: "assistant", ...assistant },
        ],
      },
      targetOf(provider),
      0,
    );
  expect(request({ content: "Here.", images: [drawn] })).toThrow(/^messages\.1\.images\.0:/);
  expect(request({ content: [{ type: "text", text: "Here." }, drawn] })).toThrow(/^messages\.1\.content\.1:/);
  expect(request({ content: "Here.", images: [] })).not.toThrow();
});

test.each<[string, ChatTranslator]>([
  ["anthropic", anthropicTranslator],
  ["bedrock", bedrockTranslator],
  ["gemini", geminiTranslator],
])("%s refuses a file of another provider, by its path in the request", (provider, translator) => {
  const content = [
    { type: "text", text: "See:" },
    { type: "file", file: { file_id: "file-of-openai" } },
  ];
  const request = () =>
    translator.request({ model: "m", messages: [{ role: "user", content }] }, targetOf(provider), 0);
  expect(request).toThrow(ServiceError);
  expect(request).toThrow(/^messages\.0\.content\.1\.file\.file_id:/);
});
