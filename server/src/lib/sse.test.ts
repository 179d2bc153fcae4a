import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createSseSplitter, SseBlockTooLong } from "./sse.ts";

/** The result of a stream that arrives in these pieces. */
function split(pieces: readonly Buffer[], max = 1_000) {
  const splitter = createSseSplitter(max);
  const events = pieces.flatMap((piece) => splitter.push(piece));
  return {
    parsed: events.filter(({ data }) => data !== undefined).map(({ name, data }) => ({ name, data })),
    bytes: Buffer.concat([...events.map(({ raw }) => raw), splitter.rest()]).toString("latin1"),
    rest: splitter.rest().toString(),
  };
}

const piecesOf = (bytes: Buffer, length: number): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / length) }, (_, index) =>
    bytes.subarray(index * length, (index + 1) * length),
  );

/** The CPU time of splitting them, in milliseconds. */
function msOf(pieces: readonly Buffer[]): number {
  const splitter = createSseSplitter(32 << 20);
  const began = process.threadCpuUsage();
  for (const piece of pieces) splitter.push(piece);
  return process.threadCpuUsage(began).user / 1_000;
}

const stream =
  ": hello\n\nevent: a\ndata: 北京 🌍\n\ndata:one\r\ndata:  two\r\n\r\nid: 7\rdata\r\revent:b\ndata: {}\n\ndata: cut";

describe("server-sent events", () => {
  test("are parsed with every line ending; comments and incomplete events are separate", () => {
    const { parsed, rest } = split([Buffer.from(stream)]);
    expect(parsed).toEqual([
      { name: "a", data: "北京 🌍" },
      { name: "", data: "one\n two" },
      { name: "", data: "" },
      { name: "b", data: "{}" },
    ]);
    expect(rest).toBe("data: cut");
  });

  test("are the same wherever the bytes are split, and no bytes are lost", () => {
    const bytes = Buffer.from(stream);
    const whole = split([bytes]);
    expect(whole.bytes).toBe(bytes.toString("latin1"));
    for (let offset = 0; offset <= bytes.length; offset += 1) {
      expect(split([bytes.subarray(0, offset), bytes.subarray(offset)])).toEqual(whole);
    }
    expect(split(Array.from(bytes, (byte) => Buffer.from([byte])))).toEqual(whole);
  });

  test("are the same for any mixture of lines, however split", () => {
    const piece = fc.constantFrom("\r", "\n", "\r\n", "data: x", "data:", ": c", "event: é", " ", "🌍");
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), fc.array(fc.nat(3), { maxLength: 60 }), (pieces, sizes) => {
        const bytes = Buffer.from(pieces.join(""));
        const slices: Buffer[] = [];
        let from = 0;
        for (const size of sizes) {
          slices.push(bytes.subarray(from, from + size));
          from += size;
        }
        const offset = split([...slices, bytes.subarray(from)]);
        expect(offset.parsed).toEqual(split([bytes]).parsed);
        expect(offset.bytes).toBe(bytes.toString("latin1"));
      }),
    );
  });

  test.each(["\n", "\r\n", "\r", ":\n\n", ": c\r\n\r\n", "id: 1\n\n"])(
    "without data are returned together, as in a flood of %j",
    (block) => {
      const silence = block.repeat(1_000);
      const events = createSseSplitter(100).push(Buffer.from(`${silence}data: x\n\n${silence}`));
      expect(events.map(({ data, raw }) => [data, raw.toString()])).toEqual([
        [undefined, silence],
        ["x", "data: x\n\n"],
        [undefined, silence],
      ]);
    },
  );

  test("have a constant cost per byte, however small the pieces of a large one are", () => {
    const large = Buffer.from(`data: ${"x".repeat(16 << 20)}\n\n`);
    expect(msOf(piecesOf(large, 64 << 10))).toBeLessThan(1_000);
    expect(msOf(piecesOf(large.subarray(-1 << 20), 3))).toBeLessThan(1_000);
    // Many short lines.
    expect(msOf(piecesOf(Buffer.from(`${":\n".repeat(1 << 20)}data: x\n\n`), 64 << 10))).toBeLessThan(1_000);
  });

  test("are refused if one is longer than the bound, however it arrives", () => {
    expect(() => split([Buffer.from(`data: ${"x".repeat(100)}`)], 50)).toThrow(SseBlockTooLong);
    expect(() =>
      split(
        Array.from({ length: 100 }, () => Buffer.from("xx")),
        50,
      ),
    ).toThrow(SseBlockTooLong);
  });
});
