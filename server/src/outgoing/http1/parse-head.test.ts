import fc from "fast-check";
import { expect, test } from "vitest";
import { parseHead } from "./parse-head.ts";

const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: .*)?\r\n/;

/** The expected result, by the grammar of the first line. */
function expected(text: string): unknown {
  const match = statusLine.exec(text);
  if (match === null) return "BAD_ANSWER";
  return { minorVersion: Number(match[1]), status: Number(match[2]), headers: [["a", "b"]] };
}

function read(text: string): unknown {
  try {
    const { headers, ...rest } = parseHead(Buffer.from(`${text}\r\nbody`, "latin1"), text.length);
    return { ...rest, headers: Object.entries(headers) };
  } catch (error) {
    return (error as { code: string }).code;
  }
}

test("a status line is a version, a status, and any text after a space", () => {
  const odd = fc.constantFrom("", " ", "\t", "0", "1", "2", "9", "/", ":", "x", "\xa0", "\xb2");
  const minor = fc.oneof(fc.constantFrom("0", "1"), odd);
  const blank = fc.oneof(fc.constant(" "), odd);
  const status = fc.oneof(fc.nat(1_100).map(String), fc.constantFrom("2x0", "20\xb2", "099", "100", "999"));
  const reason = fc.oneof(fc.constantFrom("", " ", " OK", " \xe9 ok"), odd);
  fc.assert(
    fc.property(fc.tuple(minor, blank, status, reason), (parts) => {
      const text = `HTTP/1.${parts.join("")}\r\na: b\r\n`;
      expect(read(text)).toEqual(expected(text));
    }),
    { numRuns: 2_000 },
  );
});
