import fc from "fast-check";
import { expect, test } from "vitest";
import { toByteString } from "./byte-string.ts";
import { TextStore } from "./text-store.ts";

test("returns its texts in any order, with others between them", () => {
  const text = fc.oneof(fc.string({ unit: "grapheme" }), fc.nat(5));
  fc.assert(
    fc.property(fc.array(text, { minLength: 1 }), fc.array(fc.oneof(fc.nat(), fc.string())), (given, picks) => {
      // A number makes a text that is longer than a block.
      const texts = given.map((one) => (typeof one === "string" ? one : "aé漢𝄞".repeat(one * 20_000)));
      const store = new TextStore();
      for (const one of texts) store.add(toByteString(one));
      const order = picks.map((pick) => (typeof pick === "string" ? Buffer.from(pick) : pick % texts.length));
      const expected = Buffer.concat(
        order.map((part) => (typeof part === "number" ? Buffer.from(texts[part] ?? "") : part)),
      );
      expect(store.bytes).toBe(Buffer.byteLength(texts.join("")));
      expect(Buffer.concat([...store.pieces(order, expected.length)]).equals(expected)).toBe(true);
    }),
    { numRuns: 25 },
  );
});

test("throws if the stated length is wrong, or a text does not exist", () => {
  const stored = () => {
    const store = new TextStore();
    store.add("text");
    return store;
  };
  expect(() => [...stored().pieces([0], 5)]).toThrow("1 of 5 bytes are missing");
  expect(() => [...stored().pieces([1], 5)]).toThrow("there is no text 1");
});
