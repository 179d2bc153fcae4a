import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeEvent, encodeMessage } from "./event-stream.fixture.ts";
import { BadEventStream, createEventStreamDecoder } from "./event-stream.ts";

const decode = (pieces: readonly Buffer[], max = 10_000) => {
  const decoder = createEventStreamDecoder(max);
  const messages = pieces
    .flatMap((piece) => decoder.push(piece))
    .map(({ headers, payload }) => ({ headers, payload: payload.toString("latin1") }));
  return { messages, isBetweenMessages: decoder.isBetweenMessages() };
};

describe("event streams", () => {
  test("decode the published example", () => {
    // The message with headers and payload from AWS's test vectors.
    const bytes = Buffer.from(
      "0000003d0000002007fd83960c636f6e74656e742d747970650700106170706c69636174696f6e2f6a736f6e7b27666f6f273a27626172277d8d9c08b1",
      "hex",
    );
    expect(decode([bytes]).messages).toEqual([
      { headers: { "content-type": "application/json" }, payload: "{'foo':'bar'}" },
    ]);
  });

  test("are the same wherever the bytes are split", () => {
    const message = fc.record({
      headers: fc.dictionary(fc.stringMatching(/^[:a-z-]{1,8}$/), fc.string({ maxLength: 20 }), { maxKeys: 3 }),
      payload: fc.uint8Array({ maxLength: 40 }),
    });
    fc.assert(
      fc.property(fc.array(message, { maxLength: 4 }), fc.array(fc.nat(20)), (messages, sizes) => {
        const bytes = Buffer.concat(
          messages.map(({ headers, payload }) => encodeMessage(headers, Buffer.from(payload))),
        );
        const slices: Buffer[] = [];
        let from = 0;
        for (const size of sizes) {
          slices.push(bytes.subarray(from, from + size));
          from += size;
        }
        const decoded = decode([...slices, bytes.subarray(from)]);
        expect(decoded.isBetweenMessages).toBe(true);
        expect(decoded.messages).toEqual(
          messages.map(({ headers, payload }) => ({
            headers: { ...headers },
            payload: Buffer.from(payload).toString("latin1"),
          })),
        );
      }),
    );
  });

  test("have a constant cost per byte of a large message, however small the pieces", () => {
    const bytes = encodeMessage({}, Buffer.alloc(15 << 20));
    const pieces = Array.from({ length: Math.ceil(bytes.length / 8_192) }, (_, index) =>
      bytes.subarray(index * 8_192, (index + 1) * 8_192),
    );
    const decoder = createEventStreamDecoder(16 << 20);
    const began = process.threadCpuUsage();
    const messages = pieces.flatMap((piece) => decoder.push(piece));
    expect(process.threadCpuUsage(began).user).toBeLessThan(1_500_000);
    expect(messages.map(({ payload }) => payload.length)).toEqual([15 << 20]);
  });

  test("are refused if any byte is changed", () => {
    const bytes = encodeEvent("contentBlockDelta", { delta: { text: "Hi" } });
    const accepted = Array.from(bytes, (byte, at) => {
      const damaged = Buffer.from(bytes);
      damaged[at] = byte ^ 0x10;
      try {
        return decode([damaged]).messages.length;
      } catch (error) {
        return error instanceof BadEventStream ? 0 : -1;
      }
    });
    expect(accepted).toEqual(accepted.map(() => 0));
  });

  test("must not end within a message, nor have one beyond the bound", () => {
    const bytes = encodeEvent("messageStart", { role: "assistant" });
    expect(decode([bytes.subarray(0, -1)]).isBetweenMessages).toBe(false);
    expect(decode([bytes]).isBetweenMessages).toBe(true);
    expect(() => decode([bytes.subarray(0, 12)], 50)).toThrow(BadEventStream);
  });

  test("ignore headers that are not text, and refuse truncated ones", () => {
    const headers = Buffer.from([1, 0x61, 4, 0, 0, 0, 9, 1, 0x62, 0, 1, 0x63, 6, 0, 2, 1, 2, 1, 0x64, 7, 0, 1, 0x78]);
    const payload = Buffer.from("!");
    expect(decode([encodeMessage(headers, payload)]).messages).toEqual([{ headers: { d: "x" }, payload: "!" }]);
    expect(() => decode([encodeMessage(headers.subarray(0, -1), payload)])).toThrow(BadEventStream);
    expect(() => decode([encodeMessage(Buffer.from([1, 0x61, 77]), payload)])).toThrow(BadEventStream);
  });
});
