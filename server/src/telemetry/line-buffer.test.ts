import { pino } from "pino";
import { expect, test } from "vitest";
import { createLineBuffer } from "./line-buffer.ts";

function logged(options: { waitMs: number; maxChars: number }) {
  const writes: string[] = [];
  const buffer = createLineBuffer({ write: (lines) => void writes.push(lines) }, options);
  return { writes, buffer, logger: pino({ base: null, timestamp: false }, buffer) };
}

const line = (level: number, msg: string): string => `{"level":${level},"msg":"${msg}"}\n`;

test("lines are written together, in order, within their time", async () => {
  const { writes, logger } = logged({ waitMs: 20, maxChars: 1_000 });
  logger.info("one");
  logger.warn("two");
  expect(writes).toEqual([]);
  await expect.poll(() => writes).toEqual([line(30, "one") + line(40, "two")]);
});

test("an error is written at once, after what stands before it", () => {
  const { writes, logger } = logged({ waitMs: 60_000, maxChars: 1_000 });
  logger.info("before");
  logger.error("it broke");
  expect(writes).toEqual([line(30, "before") + line(50, "it broke")]);
});

test("so are as many lines as may wait, and all that waits when the process ends", () => {
  const { writes, logger, buffer } = logged({ waitMs: 60_000, maxChars: 40 });
  logger.info("one");
  logger.info("two");
  expect(writes).toEqual([line(30, "one") + line(30, "two")]);
  logger.info("three");
  buffer.flushSync();
  buffer.flushSync();
  expect(writes.slice(1)).toEqual([line(30, "three")]);
});
