import type { Socket } from "node:net";
import { describe, expect, test } from "vitest";
import type { RoundReader } from "./read-rounds.ts";
import { answer, ask, poolTo, selfSigned, settle } from "./test-support.ts";

const head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;
const end = "0\r\n\r\n";

/** Rounds that last until the test ends them. */
function roundsByHand() {
  const resting = new Set<RoundReader>();
  const rounds = {
    rests: (reader: RoundReader): boolean => resting.add(reader) === resting,
    leave: (reader: RoundReader): void => void resting.delete(reader),
  };
  const next = (): void => {
    for (const reader of Array.from(resting)) {
      resting.delete(reader);
      reader.goOn();
    }
  };
  return { rounds, resting, next };
}

/** A stream whose first event has come, and which rests from there on. */
async function restingStream(tls?: ReturnType<typeof selfSigned>) {
  const { rounds, resting, next } = roundsByHand();
  const asked = Promise.withResolvers<Socket>();
  const { pool, sockets } = await poolTo(
    ({ request, socket }) => {
      if (request > 1) socket.write(answer("next"));
      else {
        socket.setNoDelay(true).write(head + chunk("first,"));
        asked.resolve(socket);
      }
    },
    { rounds, tls },
  );
  const pieces: string[] = [];
  const call = ask(pool, undefined, (controller, piece) => {
    pieces.push(piece);
    controller.readInRounds(true);
  });
  const socket = await asked.promise;
  await call.begun;
  expect(resting.size).toBe(1);
  return { ...call, pool, sockets, pieces, socket, resting, next };
}

/** The peer says these one after the other, each in a packet of its own. */
async function say(socket: Socket, texts: readonly string[]): Promise<void> {
  for (const text of texts) await new Promise<void>((resolve) => void socket.write(text, () => resolve()));
  await settle();
}

test("what comes within a round is told together, in order, when it is over", async () => {
  const { socket, pieces, next, resting } = await restingStream();
  await say(socket, ["a,", "b,", "c,"].map(chunk));
  expect(pieces).toEqual(["first,"]);
  next();
  await settle();
  expect(pieces).toEqual(["first,", "a,b,c,"]);
  expect(resting.size).toBe(1);
});

describe("over TLS", () => {
  const tls = selfSigned();

  test("records that come within a round are told together, and so is the end", async () => {
    const { socket, pieces, next, over } = await restingStream(tls);
    await say(socket, ["a,", "b,", "c,"].map(chunk));
    expect(pieces).toEqual(["first,"]);
    next();
    await settle();
    expect(pieces).toEqual(["first,", "a,b,c,"]);
    await say(socket, [chunk("d,"), chunk("e"), end]);
    next();
    expect(await over).toBe("first,a,b,c,d,e");
    expect(pieces).toHaveLength(3);
  });

  test("a peer that closes within a round is heard after all that it said", async () => {
    const { socket, over, pieces, told, next } = await restingStream(tls);
    await say(socket, [chunk("a,"), chunk("b")]);
    socket.end();
    await settle();
    next();
    expect(await over).toBe("CONNECTION_CLOSED");
    expect(told).toEqual(["200", "error"]);
    expect(pieces).toEqual(["first,", "a,b"]);
  });
});

test("the end that comes within a round is told with all before it, and the connection is used again, without rounds", async () => {
  const { socket, pool, sockets, over, told, next, resting } = await restingStream();
  await say(socket, [chunk("last"), end]);
  next();
  expect(await over).toBe("first,last");
  expect(told).toEqual(["200", "end"]);
  expect(await ask(pool).over).toBe("next");
  expect(resting.size).toBe(0);
  expect(sockets).toHaveLength(1);
});

test.each<[how: string, close: (socket: Socket) => void]>([
  ["closes", (socket) => void socket.end()],
  ["resets", (socket) => void socket.resetAndDestroy()],
])("a peer that %s within a round is heard when it is over, and nothing is awaited after that", async (_how, close) => {
  const { socket, over, told, next, resting } = await restingStream();
  close(socket);
  await settle();
  next();
  expect(await over).toMatch(/CONNECTION_CLOSED|ECONNRESET/);
  expect(told).toEqual(["200", "error"]);
  expect(resting.size).toBe(0);
});

test("an abort within a round cuts the connection at once, and what came meanwhile is not told", async () => {
  const { socket, over, told, pieces, controller, resting } = await restingStream();
  await say(socket, [chunk("unheard")]);
  controller.abort(new Error("enough"));
  expect(await over).toBe("enough");
  expect(resting.size).toBe(0);
  if (!socket.closed) await new Promise((resolve) => void socket.once("close", resolve));
  expect(told).toEqual(["200", "error"]);
  expect(pieces).toEqual(["first,"]);
});

test("one that is paused is not read when its round is over, nor one within a round when it is resumed", async () => {
  const { socket, over, pieces, controller, next } = await restingStream();
  await say(socket, [chunk("a,")]);
  controller.pause();
  next();
  await settle();
  expect(pieces).toEqual(["first,"]);
  controller.resume();
  await settle();
  expect(pieces).toEqual(["first,", "a,"]);
  controller.pause();
  await say(socket, [chunk("b,"), end]);
  controller.resume();
  await settle();
  expect(pieces).toEqual(["first,", "a,"]);
  next();
  expect(await over).toBe("first,a,b,");
});

test.each([
  ["", undefined],
  [" over TLS", selfSigned()],
])("an answer that comes as fast as it is read%s leaves each turn of the loop to others, too", async (_how, tls) => {
  const body = "x".repeat(8 << 20);
  const { pool } = await poolTo(({ socket }) => void socket.write(answer(body)), { tls });
  let inTurn = 0;
  let most = 0;
  const { over } = ask(pool, undefined, (_controller, piece) => {
    if (inTurn === 0) setImmediate(() => void (inTurn = 0));
    inTurn += piece.length;
    most = Math.max(most, inTurn);
  });
  expect((await over).length).toBe(body.length);
  expect(most).toBeLessThanOrEqual(128 << 10);
});

test("an answer that comes fast is not read while it is paused", async () => {
  const body = "x".repeat(4 << 20);
  const { pool } = await poolTo(({ socket }) => void socket.write(answer(body)));
  let isPaused = false;
  const { over } = ask(pool, undefined, (controller) => {
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

test("one that is not to be read in rounds any more is read at once", async () => {
  const { socket, over, controller, resting } = await restingStream();
  await say(socket, [chunk("a"), end]);
  controller.readInRounds(false);
  expect(await over).toBe("first,a");
  expect(resting.size).toBe(0);
});
