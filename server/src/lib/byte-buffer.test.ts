import fc from "fast-check";
import { expect, test } from "vitest";
import { ByteBuffer } from "./byte-buffer.ts";

test("the buffer holds the bytes added since they were last taken", () => {
  const step = fc.record({ bytes: fc.uint8Array({ maxLength: 20 }), takes: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const buffer = new ByteBuffer();
      const taken: Buffer[] = [];
      const expected: string[] = [];
      let text = "";
      for (const { bytes, takes } of steps) {
        text += Buffer.from(bytes).toString("latin1");
        if (takes) {
          taken.push(buffer.drainWith(Buffer.from(bytes)));
          expected.push(text);
          text = "";
        } else buffer.add(Buffer.from(bytes));
        expect([buffer.length, buffer.view().toString("latin1")]).toEqual([text.length, text]);
      }
      expect(taken.map((each) => each.toString("latin1"))).toEqual(expected);
    }),
  );
});
