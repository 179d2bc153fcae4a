import { expect, test } from "vitest";
import { previewOf } from "./preview.ts";

const system = { role: "system", content: "Be brief." };
const asked = { role: "user", content: [{ type: "text", text: "Weather in Paris?" }] };
const answered = { role: "assistant", content: "Sunny." };
const langchain = { lc: 1, id: ["langchain", "HumanMessage"], kwargs: { content: "Weather in Paris?" } };

test.each([
  ["a list of messages", [system, asked, answered]],
  ["one message", asked],
  ["an object with messages", { messages: [system, asked], stream: true }],
  ["messages of LangChain", [langchain]],
])("shows what the user asked: %s", (_, input) => {
  expect(previewOf(JSON.stringify(input))).toBe("Weather in Paris?");
});

test("shows the last text if no user speaks", () => {
  expect(previewOf(JSON.stringify([system]))).toBe("Be brief.");
});

test.each(["Weather in Paris?", '{"city": "Paris"}', "[1, 2]", "null", "{broken", "[]", '{"messages": 3}'])(
  "shows anything else as it is: %s",
  (input) => {
    expect(previewOf(input)).toBe(input);
  },
);

test("shows nothing without an input", () => {
  expect(previewOf(null)).toBe("");
  expect(previewOf(undefined)).toBe("");
});
