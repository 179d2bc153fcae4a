import { describe, expect, test } from "vitest";
import { visibleLine, visibleText } from "./visible-text.ts";

describe("untrusted text", () => {
  test.each([
    ["plain", "Größe 12 €, 你好, 👩‍👩‍👧, שלום", "Größe 12 €, 你好, 👩‍👩‍👧, שלום"],
    ["line breaks and tabs", "a\n\tb\r\nc", "a\n\tb\r\nc"],
    ["colours of a terminal", "\u001B[1;31mfailed\u001B[0m", "failed"],
    ["other escape sequences", "\u001B[2Jgone\u001B]8;;http://x\u0007", "␛[2Jgone␛]8;;http://x␇"],
    ["NUL and backspace", "a\0b\bc", "a␀b␈c"],
    ["overrides of direction", "exe.\u202Egnp\u202C", "exe.⟨U+202E⟩gnp⟨U+202C⟩"],
    ["isolates", "\u2066x\u2069", "⟨U+2066⟩x⟨U+2069⟩"],
    ["tags that nobody sees", "hi\u{E0041}", "hi⟨U+E0041⟩"],
    ["half surrogates", "a\uD83Db\uDE00", "a\uFFFDb\uFFFD"],
    ["8-bit controls", "\u009B31m", "⟨U+009B⟩31m"],
  ])("%s", (_name, given, shown) => {
    expect(visibleText(given)).toBe(shown);
  });

  test("a name stays on one line", () => {
    expect(visibleLine("a\r\n\n  b\u2028c")).toBe("a ↵ b ↵ c");
  });
});
