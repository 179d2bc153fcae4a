import { expect, test } from "vitest";
import { gatewayLimits } from "../limits.ts";
import { BufferedReply } from "../call/attempt.ts";

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
