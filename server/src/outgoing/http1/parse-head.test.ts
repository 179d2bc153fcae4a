import fc from "fast-check";
import { expect, test } from "vitest";
import { parseHead, Section } from "./parse-head.ts";

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

// oxlint-disable-next-line no-control-regex
const illegal = /[^\t\r\n\x20-\x7e\x80-\xff]|\r(?!\n|$)|(?<!\r)\n/;
const start = "HTTP";

type Taken = { taken: number; lines?: string } | "BAD_ANSWER";

/** The expected result for all bytes so far, by the grammar of lines. */
function expectedSection(text: string): Taken {
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
      expect(take(text)).toEqual(expectedSection(text));
    }),
    { numRuns: 3_000 },
  );
});
