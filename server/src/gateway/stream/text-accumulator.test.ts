import fc from "fast-check";
import { expect, test } from "vitest";
import { TextAccumulator } from "./text-accumulator.ts";

const texts = fc.string({ unit: "binary", maxLength: 700 }).map((text) => text.toWellFormed());
const step = fc.oneof(
  fc.record({ how: fc.constantFrom("text", "bytes"), text: texts }),
  fc.record({ how: fc.constantFrom("read", "read last"), text: fc.constant("") }),
);

test("text and bytes are read in order, any number of times, and more can be added after a read", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const gathered = new TextAccumulator();
      let whole = "";
      const read: string[] = [];
      const added: string[] = [];
      for (const { how, text } of steps) {
        whole += text;
        if (how === "text") gathered.add(text);
        else if (how === "bytes") {
          const bytes = Buffer.from(`<${text}>`);
          gathered.addBytes(bytes, 1, bytes.length - 1);
        } else {
          read.push(how === "read" ? gathered.read() : gathered.readLast());
          added.push(whole);
        }
      }
      expect(read).toEqual(added);
      expect(gathered.readLast()).toBe(whole);
      expect(gathered.read()).toBe(whole);
    }),
  );
});
