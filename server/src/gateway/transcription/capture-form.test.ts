import fc from "fast-check";
import { expect, test } from "vitest";
import { form, type Part } from "../../../test/support/form.ts";
import { captureForm } from "./capture-form.ts";

/** The fields seen in a form that arrives in pieces of these sizes. */
function seen(bytes: Buffer, type: string, sizes: readonly number[]): Array<[string, string]> {
  const fields: Array<[string, string]> = [];
  const watch = captureForm(type, (name, text) => fields.push([name, text]));
  let from = 0;
  for (const size of sizes) {
    watch(bytes.subarray(from, from + size));
    from += size;
  }
  watch(bytes.subarray(from));
  return fields;
}

const part = fc.oneof(
  fc
    .tuple(fc.constantFrom("model", "language", "prompt"), fc.string({ maxLength: 20 }))
    .map(([name, text]): Part => [name, text]),
  fc.uint8Array({ maxLength: 300 }).map((bytes): Part => ["file", Buffer.from(bytes), { name: "a.mp3" }]),
  fc.constant<Part>(["file", Buffer.from("\r\n--b0undar\r\n\r\n--b0und"), { name: "b.mp3" }]),
);

test("P20: sees the fields of a form, and not its file, wherever the bytes are split", () => {
  fc.assert(
    fc.property(
      fc.array(part, { maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 60 }),
      (parts, sizes) => {
        const { bytes, type } = form(...parts);
        const fields = parts.filter(([, , file]) => file === undefined).map(([name, value]) => [name, value]);
        expect(seen(bytes, type, sizes)).toEqual(fields);
        const each = Array.from(bytes, () => 1);
        expect(seen(bytes, type, each)).toEqual(fields);
      },
    ),
    { numRuns: 60 },
  );
});

test("P20: sees a field as soon as the next part begins, and nothing if the body is not a form", () => {
  const { bytes, type } = form(["language", "xx"], ["file", Buffer.alloc(100), { name: "a.mp3" }]);
  const fields: string[] = [];
  captureForm(type, (_name, text) => fields.push(text))(bytes.subarray(0, bytes.indexOf("filename")));
  expect(fields).toEqual(["xx"]);
  expect(seen(Buffer.from('{"language":"xx"}'), "application/json", [])).toEqual([]);
  expect(seen(Buffer.from("--b0undary nonsense\r\n\r\n--b0undary--"), type, [])).toEqual([]);
});
