import { describe, expect, test } from "vitest";
import { json, mapped } from "../map-span.fixture.ts";

describe("the AI SDK", () => {
  test.each(["ai.rerank", "ai.rerank.doRerank"])("%s: documents as input, a ranking as output", (operation) => {
    const body = mapped({
      "ai.operationId": operation,
      "ai.model.id": "rerank-v3",
      "ai.documents": [json("a"), json("b")],
      "ai.ranking": [json({ index: 1, relevanceScore: 0.9 })],
    });
    expect(body).toMatchObject({ log_type: "task", input: ["a", "b"], output: [{ index: 1, relevanceScore: 0.9 }] });
  });

  test.each(["ai.telemetry.metadata.", "ai.settings.context."])("users and threads under %s*", (prefix) => {
    const body = mapped({ [`${prefix}userId`]: "u1", [`${prefix}sessionId`]: "s1", [`${prefix}plan`]: "pro" });
    expect(body).toMatchObject({ customer_identifier: "u1", thread_identifier: "s1", metadata: { plan: "pro" } });
  });

  test("files of a response are parts of it", () => {
    const body = mapped({
      "ai.operationId": "ai.generateText.doGenerate",
      "ai.response.text": "Here.",
      "ai.response.files": json([{ type: "file", mediaType: "image/png", data: "AA" }]),
    });
    expect(body["completion_message"]).toEqual({
      role: "assistant",
      content: [
        { type: "text", text: "Here." },
        { type: "image_url", image_url: { url: "data:image/png;base64,AA" } },
      ],
    });
  });

  test("a prompt managed in Langfuse", () => {
    const prompt = { "ai.telemetry.metadata.langfusePrompt": json({ name: "greeting", version: 3 }) };
    expect(mapped(prompt)).toMatchObject({ prompt_name: "greeting", prompt_version_number: 3 });
  });
});
