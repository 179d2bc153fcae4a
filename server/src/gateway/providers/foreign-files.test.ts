import { expect, test } from "vitest";
import { ServiceError } from "../../domain/errors.ts";
import { anthropicTranslator } from "./anthropic/translator.ts";
import { bedrockTranslator } from "./bedrock/translator.ts";
import { geminiTranslator } from "./gemini/translator.ts";
import type { ChatTranslator } from "./provider.ts";

test.each<[string, ChatTranslator]>([
  ["anthropic", anthropicTranslator],
  ["bedrock", bedrockTranslator],
  ["gemini", geminiTranslator],
])("%s refuses a file that is another's by the path that it has in the request", (provider, translator) => {
  const content = [
    { type: "text", text: "See:" },
    { type: "file", file: { file_id: "file-of-openai" } },
  ];
  const credential = { apiKey: "k", fields: { region: "eu-west-1" } };
  const target = { provider, model: "m", baseUrl: "https://a.example", credential };
  const ask = () => translator.request({ model: "m", messages: [{ role: "user", content }] }, target, 0);
  expect(ask).toThrow(ServiceError);
  expect(ask).toThrow(/^messages\.0\.content\.1\.file\.file_id:/);
});
