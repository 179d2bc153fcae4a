import fc from "fast-check";
import { expect, test } from "vitest";
import { createLineEncoder } from "./line-encoder.ts";

test("lines are encoded as UTF-8 in order, whether the scratch buffer holds all, some or none of them", () => {
  const encode = createLineEncoder(100);
  const piece = fc
    .tuple(fc.string({ unit: "grapheme" }), fc.constantFrom(0, 1, 1, 4, 30))
    .map(([part, times]) => part.repeat(times));
  const line = fc.array(piece, { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(fc.array(fc.array(line, { maxLength: 8 }), { maxLength: 3 }), (batches) => {
      const encoded = batches.map((batch) => encode(batch.map((pieces) => ({ whole: pieces.join(""), pieces }))));
      // Read only at the end: no later batch may overwrite an earlier one.
      expect(encoded.map(({ lines }) => lines.map(String))).toEqual(
        batches.map((batch) => batch.map((pieces) => pieces.join(""))),
      );
      expect(encoded.map(({ bytes }) => bytes.toString())).toEqual(batches.map((batch) => batch.flat().join("")));
      for (const { bytes } of encoded) expect(bytes.buffer.byteLength).toBe(bytes.length);
    }),
  );
});
