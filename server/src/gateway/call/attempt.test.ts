import { expect, test } from "vitest";
import { BufferedReply } from "../call/attempt.ts";
import { gatewayLimits } from "../limits.ts";
import { timesOf } from "./attempt.ts";

test("returns the whole response, from one piece or many", () => {
  for (const pieces of [[], ["one"], ["a", "", "bc"]]) {
    const reply = new BufferedReply();
    for (const piece of pieces) expect(reply.add(Buffer.from(piece), 200)).toBeUndefined();
    expect(reply.read().toString()).toBe(pieces.join(""));
  }
});

test("accepts a response up to the limit; one byte more is a fault of the provider and frees the memory", () => {
  const reply = new BufferedReply();
  expect(reply.add(Buffer.alloc(gatewayLimits.upstreamReplyBytes), 200)).toBeUndefined();
  expect(reply.add(Buffer.alloc(1), 200)).toMatchObject({ kind: "fault", status: 200 });
  expect(reply.read().length).toBe(0);
});

const timeouts = { firstByteMs: 600, idleMs: 60, totalMs: 1_800 };

test.each([
  ["no other model", 1_800, { furtherModels: 0, roomMs: Infinity }, { firstByteMs: 600, totalMs: 1_800 }],
  ["one more, and time", 1_800, { furtherModels: 1, roomMs: Infinity }, { firstByteMs: 600, totalMs: 1_200 }],
  ["one more, and little time", 600, { furtherModels: 1, roomMs: Infinity }, { firstByteMs: 300, totalMs: 300 }],
  ["two more", 900, { furtherModels: 2, roomMs: Infinity }, { firstByteMs: 300, totalMs: 300 }],
  ["one more, and little room", 1_800, { furtherModels: 1, roomMs: 100 }, { firstByteMs: 100, totalMs: 1_200 }],
  ["no time at all", 0, { furtherModels: 1, roomMs: 0 }, { firstByteMs: 1, totalMs: 1 }],
])("P9: an attempt leaves time for other models: %s", (_what, leftMs, step, times) => {
  expect(timesOf(timeouts, leftMs, step, false)).toEqual({ idleMs: 60, ...times });
  expect(timesOf(timeouts, leftMs, step, true).totalMs).toBe(Math.max(1, leftMs));
});
