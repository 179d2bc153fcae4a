import { expect, test } from "vitest";
import { promptChars } from "./prompt-size.ts";

const picture = `data:image/png;base64,${"A".repeat(1_000_000)}`;
const document = "A".repeat(500_000);
const items = [
  {
    role: "user",
    content: [
      { type: "input_text", text: "abcd" },
      { type: "input_image", image_url: picture },
    ],
  },
  { type: "function_call", name: "f", arguments: "1234" },
  { type: "function_call_output", output: "12345678" },
  { type: "function_call_output", output: [{ type: "input_image", image_url: picture }] },
];

test.each<[string, Record<string, unknown>, number]>([
  ["messages", { messages: [{ role: "user", content: "abcd" }] }, 4],
  ["an image of a message", { messages: [{ content: [{ type: "image_url", image_url: { url: picture } }] }] }, 4_000],
  ["a document of a message", { messages: [{ content: [{ type: "file", file: { file_data: document } }] }] }, 50_000],
  ["a document of an item", { input: [{ content: [{ type: "input_file", file_data: document }] }] }, 50_000],
  ["text, and instructions", { input: "abcd", instructions: "ef" }, 6],
  ["texts", { input: ["abcd", "ef"] }, 6],
  ["tokens", { input: [[1, 2], [3]] }, 12],
  ["items, whose images are not text", { input: items }, 8_016],
])("the size of %s", (_what, request, chars) => {
  expect(promptChars(request)).toBe(chars);
});
