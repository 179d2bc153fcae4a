import type { Socket } from "node:net";
import fc from "fast-check";
import { expect, test } from "vitest";
import { PlainResponse } from "./plain-response.ts";

/** The bytes sent before the body; "refused" if the head cannot be sent. */
function headOf(name: string, value: string | number | string[], isEarly: boolean): string {
  let sent = "";
  const socket = { write: (bytes: Buffer) => void (sent += bytes.toString("latin1")) } as unknown as Socket;
  const response = new PlainResponse(socket, { keepsAlive: () => true, date: () => "now", onEnd: () => undefined });
  try {
    if (isEarly) response.setHeader(name, String(value));
    response.writeHead(200, { "content-length": 0, ...(!isEarly && { [name]: value }) });
  } catch (error) {
    return error instanceof TypeError ? "refused" : String(error);
  }
  response.end();
  return sent;
}

const token = /^[\w!#$%&'*+.^`|~-]+$/;
const unfit = /[^\t\x20-\x7e\x80-\xff]/;

test("a header is one line of a token and Latin-1, or the head is not sent", () => {
  const text = fc.oneof(
    fc.constantFrom("spanway-model", "Request-Id", "own", "a\tb", "\xe9 ", "a\r\nb: c", "\u010a", "\x7f", ""),
    fc.string({ maxLength: 8, unit: "binary-ascii" }),
  );
  const values = fc.oneof(text, fc.double(), fc.array(text, { maxLength: 2 }));
  fc.assert(
    fc.property(text, values, fc.boolean(), (end, value, isEarly) => {
      const name = `x-${end}`;
      const texts = !isEarly && Array.isArray(value) ? value : [String(value)];
      const isRefused = texts.some((each) => !token.test(name) || unfit.test(each));
      const lines = texts.map((each) => `${name}: ${each}\r\n`).join("");
      const own = isEarly ? `${lines}content-length: 0\r\n` : `content-length: 0\r\n${lines}`;
      const head = headOf(name, value, isEarly);
      const expected = `HTTP/1.1 200 OK\r\n${own}connection: keep-alive\r\n`;
      expect(head.slice(0, expected.length)).toBe(isRefused ? "refused" : expected);
    }),
    { numRuns: 2_000 },
  );
});
