import { expect, test } from "vitest";
import { freeBytes } from "./free-bytes.ts";

test("bytes that have their memory to themselves give it back at once", () => {
  const bytes = Buffer.alloc(32 * 1024 * 1024);
  const before = process.memoryUsage().arrayBuffers;
  freeBytes(bytes);
  expect(before - process.memoryUsage().arrayBuffers).toBeGreaterThan(30 * 1024 * 1024);
  expect(bytes).toHaveLength(0);
  freeBytes(bytes);
});

test("bytes that share it stay as they are, and so do those beside them", () => {
  const whole = Buffer.from("one and two");
  const part = Buffer.alloc(100, "three").subarray(0, 5);
  for (const bytes of [whole, part]) freeBytes(bytes);
  expect([String(whole), String(part)]).toEqual(["one and two", "three"]);
});
