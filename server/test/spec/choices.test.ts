import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { attributesOf } from "../support/otlp.ts";
import { arrivals, eventRecord, logsOf, newIds, sendBoth, spanWithoutContent, whenSpan } from "../support/otlp-logs.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import { retrieveSpan } from "../support/spans.ts";
import type { Row } from "../support/test-client.ts";

/** Log records in other forms, and several choices, from any source. */

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const assistant = (content: string) => ({ role: "assistant", content });
const choices = ["first", "second", "third"].map((content, index) => ({
  index,
  finish_reason: "stop",
  message: assistant(content),
}));
const reversed = choices.toReversed();
const expected = {
  completion_message: assistant("first"),
  completion_messages: [assistant("first"), assistant("second"), assistant("third")],
};
const textBody = (body: unknown) => ({
  body: { stringValue: typeof body === "string" ? body : JSON.stringify(body) },
});

describe.each(arrivals)("records that arrive %s", (arrival) => {
  test("may have a body that is JSON text, or the text itself", async () => {
    const ids = newIds();
    const logs = logsOf(
      eventRecord(ids, "gen_ai.system.message", {}, textBody("Be brief.")),
      eventRecord(ids, "gen_ai.user.message", {}, textBody({ content: "Weather?" })),
      ...reversed.map((choice) => eventRecord(ids, "gen_ai.choice", {}, textBody(choice))),
    );
    await sendBoth(app.prod, arrival, spanWithoutContent(ids), logs);
    const row = await whenSpan(app.prod, ids, ({ completion_message: answer }) => answer !== null);
    expect(row).toMatchObject({
      ...expected,
      prompt_messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Weather?" },
      ],
    });
  });

  test("of the Responses API hold the prompt of a span with instructions", async () => {
    const ids = newIds();
    const span = spanWithoutContent(ids, {
      attributes: attributesOf({
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "gpt-4o-mini",
        "gen_ai.system_instructions": "Be brief.",
      }),
    });
    const details = "gen_ai.client.inference.operation.details";
    const message = (role: string, content: string) => ({ role, parts: [{ type: "text", content }] });
    const logs = logsOf(
      eventRecord(ids, details, {
        "gen_ai.input.messages": JSON.stringify([message("system", "Be brief."), message("user", "Weather?")]),
      }),
      eventRecord(ids, details, { "gen_ai.output.messages": JSON.stringify([message("assistant", "Sunny.")]) }),
    );
    await sendBoth(app.prod, arrival, span, logs);
    const row = await whenSpan(app.prod, ids, ({ completion_message: answer }) => answer !== null);
    expect(row).toMatchObject({
      prompt_messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Weather?" },
      ],
      completion_message: assistant("Sunny."),
    });
  });
});

test("choices that arrive one by one, the first one last", async () => {
  const ids = newIds();
  await app.prod.post("/api/v2/traces", spanWithoutContent(ids));
  for (const [sent, choice] of reversed.entries()) {
    await app.prod.post("/v1/logs", logsOf(eventRecord(ids, "gen_ai.choice", {}, textBody(choice))));
    await whenSpan(app.prod, ids, (row) => {
      const all = row["completion_messages"];
      return sent === 0 ? row["completion_message"] !== null : Array.isArray(all) && all.length === sent + 1;
    });
  }
  const row = await whenSpan(app.prod, ids, () => true);
  expect(row["completion_message"]).toEqual(assistant("first"));
  expect(row["completion_messages"]).toEqual(expect.arrayContaining(expected.completion_messages));
});

test.each<[string, Row]>([
  ["a chat completion as output", { output: { choices: reversed } }],
  ["its JSON text", { output: JSON.stringify({ choices: reversed }) }],
  ["choices as messages", { completion_messages: reversed }],
  ["messages in order", { completion_messages: choices.map(({ message }) => message) }],
])("choices in a body: %s", async (_name, body) => {
  const created = await app.prod.post("/api/request-logs/create/", { model: "gpt-4o-mini", log_type: "chat", ...body });
  const { unique_id: id } = created.json as Row;
  expect(await retrieveSpan(app.prod, id)).toMatchObject(expected);
});
