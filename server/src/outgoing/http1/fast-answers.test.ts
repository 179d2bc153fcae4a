import { expect, test } from "vitest";
import { answer, send, poolTo, selfSigned } from "./test-support.ts";

test.each([
  ["", undefined],
  [" over TLS", selfSigned()],
])("a response that arrives as fast as it is read%s yields in each turn of the event loop", async (_how, tls) => {
  const body = "x".repeat(8 << 20);
  const { pool } = await poolTo(({ socket }) => void socket.write(answer(body)), { tls });
  let inTurn = 0;
  let most = 0;
  const { over } = send(pool, undefined, (_controller, piece) => {
    if (inTurn === 0) setImmediate(() => void (inTurn = 0));
    inTurn += piece.length;
    most = Math.max(most, inTurn);
  });
  expect((await over).length).toBe(body.length);
  expect(most).toBeLessThanOrEqual(128 << 10);
});

test("a fast response is not read while it is paused", async () => {
  const body = "x".repeat(4 << 20);
  const { pool } = await poolTo(({ socket }) => void socket.write(answer(body)));
  let isPaused = false;
  const { over } = send(pool, undefined, (controller) => {
    expect(isPaused).toBe(false);
    isPaused = true;
    controller.pause();
    setTimeout(() => {
      isPaused = false;
      controller.resume();
    }, 1);
  });
  expect((await over).length).toBe(body.length);
});
