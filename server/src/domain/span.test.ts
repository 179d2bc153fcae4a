import { expect, test } from "vitest";
import { spanStatusOf } from "./span.ts";

test.each(["error", "ERROR", "Error", "failed", "FAILED", "failure", " Failed "])("%j is a failure", (word) => {
  expect(spanStatusOf(word)).toBe("failed");
});

test.each(["success", "Success", "SUCCEEDED", "ok", "OK"])("%j is a success", (word) => {
  expect(spanStatusOf(word)).toBe("success");
});

test.each(["Half done", "pending", "okay?", "__proto__"])("%j is kept as the client wrote it", (word) => {
  expect(spanStatusOf(word)).toBe(word);
});
