import { expect, test } from "vitest";
import { ownPath } from "./redirect.ts";

test("a path of this site is accepted, with its search", () => {
  expect(ownPath("/logs?q=model:x&env=test#row")).toBe("/logs?q=model:x&env=test#row");
});

test.each([
  "https://evil.example/",
  "//evil.example",
  "/\\evil.example",
  "/..//evil.example",
  "javascript:alert(1)",
  "logs",
  "",
  "/login?to=/logs",
  undefined,
])("%s is rejected", (value) => expect(ownPath(value)).toBeUndefined());
