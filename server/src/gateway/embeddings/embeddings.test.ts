import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { convertVectors } from "./embeddings.ts";

const vector = fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), { minLength: 1, maxLength: 20 });
const itemOf = (embedding: unknown, index = 0) => ({ object: "embedding", index, embedding });

describe("vectors of embeddings", () => {
  test("P7: are little-endian float32 in base64 on every machine", () => {
    const [item] = convertVectors([itemOf([1, -2.5])], "base64");
    expect(item).toEqual(itemOf(Buffer.from("0000803f000020c0", "hex").toString("base64")));
    expect(convertVectors([item], "float")).toEqual([itemOf([1, -2.5])]);
  });

  test("P7: survive a round trip, with the same dimensions", () => {
    fc.assert(
      fc.property(fc.array(vector, { minLength: 1, maxLength: 4 }), (vectors) => {
        const items = vectors.map(itemOf);
        expect(convertVectors(convertVectors(items, "base64"), "float")).toEqual(items);
      }),
    );
  });

  test.each<["float" | "base64", unknown]>([
    ["float", [0.25]],
    ["base64", "AACAPw=="],
    ["base64", { int8: [1] }],
    ["float", null],
  ])("P7: that were requested as %s stay unchanged: %j", (format, embedding) => {
    const items = [itemOf(embedding)];
    expect(convertVectors(items, format)).toBe(items);
  });

  test.each<["float" | "base64", unknown]>([
    ["float", "AACA"],
    ["float", "not base64 at all"],
    ["float", ""],
    ["base64", [1, "2"]],
  ])("P7: that are neither are refused: %s %j", (format, embedding) => {
    expect(() => convertVectors([itemOf(embedding)], format)).toThrow(/embeddings/);
  });
});
