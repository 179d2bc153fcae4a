import fc from "fast-check";
import { expect, test } from "vitest";
import { Section } from "./section.ts";

// oxlint-disable-next-line no-control-regex
const illegal = /[^\t\r\n\x20-\x7e\x80-\xff]|\r(?!\n|$)|(?<!\r)\n/;
const start = "HTTP";

type Taken = { taken: number; lines?: string } | "BAD_ANSWER";

/** The expected result for all bytes so far, by the grammar of lines. */
function expected(text: string): Taken {
  const end = text.indexOf("\r\n\r\n");
  const lines = end === -1 ? text : text.slice(0, end + 2);
  if (!lines.startsWith(start.slice(0, lines.length)) || illegal.test(lines)) return "BAD_ANSWER";
  return end === -1 ? { taken: -1 } : { taken: end + 4, lines };
}

function take(text: string): Taken {
  const section = new Section(Buffer.from(start));
  try {
    const taken = section.take(Buffer.from(text, "latin1"));
    return taken === -1 ? { taken } : { taken, lines: section.bytes.toString("latin1", 0, section.end) };
  } catch (error) {
    return (error as { code: "BAD_ANSWER" }).code;
  }
}

const pieces = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom("a", "a: b", "\r\n", "\r\n", "\r\n\r\n", "\r", "\n", "\t", "\x7f", "\xe9") },
  { weight: 1, arbitrary: fc.nat(255).map((code) => String.fromCharCode(code)) },
);

test("lines contain no control characters and end only with CRLF, up to the first blank one", () => {
  fc.assert(
    fc.property(fc.constantFrom("HTTP/1.1 200 OK", "HT", "HTTQ", ""), fc.array(pieces), (first, rest) => {
      const text = first + rest.join("");
      expect(take(text)).toEqual(expected(text));
    }),
    { numRuns: 3_000 },
  );
});
