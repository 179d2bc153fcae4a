import { expect, test } from "vitest";
import { freeBytes } from "./free-bytes.ts";

test("bytes that own their memory free it immediately", () => {
  const bytes = Buffer.alloc(32 * 1024 * 1024);
  const before = process.memoryUsage().arrayBuffers;
  freeBytes(bytes);
  expect(before - process.memoryUsage().arrayBuffers).toBeGreaterThan(30 * 1024 * 1024);
  expect(bytes).toHaveLength(0);
  freeBytes(bytes);
});

test("bytes that share their memory stay unchanged, as do their neighbours", () => {
  const whole = Buffer.from("one and two");
  const part = Buffer.alloc(100, "three").subarray(0, 5);
  for (const bytes of [whole, part]) freeBytes(bytes);
  expect([String(whole), String(part)]).toEqual(["one and two", "three"]);
});
