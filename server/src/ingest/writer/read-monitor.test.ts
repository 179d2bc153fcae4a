import { expect, test } from "vitest";
import { storageLimits } from "../../storage/limits.ts";
import { createReadMonitor } from "./read-monitor.ts";

test("isRead is true for a while after a statement, and not after a probe", () => {
  let nowMs = 0;
  const reads = createReadMonitor(() => nowMs);
  reads.saw("ping");
  expect(reads.isRead()).toBe(false);
  reads.saw("list_ids");
  nowMs = storageLimits.writerReadMs - 1;
  expect(reads.isRead()).toBe(true);
  nowMs += 1;
  expect(reads.isRead()).toBe(false);
});
