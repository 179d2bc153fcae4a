import fc from "fast-check";
import { expect, test } from "vitest";
import { httpLimits } from "../limits.ts";
import { readPlainHead } from "./read-head.ts";

const requestLine = /^POST (\/[\w\-./~]*) HTTP\/1\.1\r\n/;
const headerLine = /([a-z][\w!#$%&'*+.^`|~-]*):[\t ]*([\t\x20-\x7e]*)\r\n/iy;
const special = /^(?:transfer-encoding|te|trailer|expect|upgrade|proxy-connection|http2-settings)$/;

/** The expected result, by the grammar of a head's lines. */
function expected(text: string): unknown {
  if (!text.startsWith("POST /".slice(0, text.length))) return "other";
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return "partial";
  const lines = text.slice(0, end + 2);
  const [first = "", path] = requestLine.exec(lines) ?? [];
  if (path === undefined) return "other";
  const headers: Record<string, string> = {};
  for (let at = first.length; at < lines.length; at = headerLine.lastIndex) {
    headerLine.lastIndex = at;
    const [, sentName = "", value = ""] = headerLine.exec(lines) ?? [];
    const name = sentName.toLowerCase();
    if (name === "" || name in headers || special.test(name)) return "other";
    if (name === "connection" && value.trim().toLowerCase() !== "keep-alive") return "other";
    headers[name] = value.trimEnd();
  }
  const { host, "content-length": length = "" } = headers;
  if (host === undefined || !/^\d{1,7}$/.test(length) || Number(length) > httpLimits.plainBodyBytes) return "other";
  return { path, headers, headBytes: end + 4, bodyBytes: Number(length) };
}

/** Mostly plain values: a single unusual one sends a head to Node. */
const mostly = <T>(plain: fc.Arbitrary<T>, odd: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ weight: 12, arbitrary: plain }, { weight: 1, arbitrary: odd });
const oddText = fc.oneof(
  fc.constantFrom("", " ", "\t", "\r", "\n", "\0", "\x7f", "\xa0", "\xe9", ":", "/", "a\r\nb: c"),
  fc.string({ maxLength: 6, unit: "binary-ascii" }),
);
const blanks = mostly(fc.constantFrom("", " ", "\t", "\t \t"), oddText);
const name = mostly(
  fc.oneof(
    fc.constantFrom("Accept", "authorization", "Connection", "X-Stainless-OS"),
    fc.stringMatching(/^X-[a-z0-9.|~]{2}$/),
  ),
  fc.oneof(fc.constantFrom("constructor", "__proto__", "TE", "Expect"), fc.stringMatching(/^[!-~]{1,6}$/), oddText),
);
const value = mostly(
  fc.constantFrom("keep-alive", "Keep-Alive", "KEEP-ALIVE"),
  fc.constantFrom("close", "a: b", "1\t2", ""),
);
const line = fc
  .tuple(name, blanks, mostly(value, oddText), blanks)
  .map(([sent, before, text, after]) => [sent, ":", before, text, after].join(""));
const target = mostly(fc.constantFrom("/v1/chat/completions", "/", "/a~b_c.d"), oddText);

test("a head is parsed by its grammar, and any other head is left to Node", () => {
  fc.assert(
    fc.property(
      fc.tuple(
        mostly(fc.constant("POST"), fc.constantFrom("PUT", "POS")),
        target,
        mostly(fc.constant(" HTTP/1.1"), fc.constantFrom("", " HTTP/1.0")),
      ),
      fc.array(line, { maxLength: 3 }),
      mostly(
        fc.constantFrom("Content-Length: 12", "content-length:\t1 "),
        fc.constantFrom("Content-Length: 99999999", "Content-Length: 1x"),
      ),
      mostly(fc.constantFrom("\r\n\r\n", "\r\n\r\n{}"), fc.constantFrom("\r\n\r", "")),
      ([method, path, version], lines, length, end) => {
        const text = [`${method} ${path}${version}`, "Host: here", ...lines, length].join("\r\n") + end;
        expect(readPlainHead(Buffer.from(text, "latin1"))).toEqual(expected(text));
      },
    ),
    { numRuns: 3_000 },
  );
});
