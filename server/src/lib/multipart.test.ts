import fc from "fast-check";
import { expect, test } from "vitest";
import { BadMultipart, boundaryOf, parseMultipart } from "./multipart.ts";

const parse = (text: string | Buffer, boundary = "b") =>
  parseMultipart(Buffer.from(text), boundary, 10).map(({ bytes, ...part }) => ({
    ...part,
    text: bytes.toString("latin1"),
  }));
const part = (head: string, content = "") => `--b\r\n${head}\r\n\r\n${content}\r\n`;
const named = (more: string, content?: string) => part(`Content-Disposition: form-data; ${more}`, content);

test("any form that fetch writes is parsed", async () => {
  const file = fc.uint8Array({ maxLength: 200 });
  const name = fc
    .string({ unit: "binary", maxLength: 20 })
    .filter((text) => text.isWellFormed() && !/[\r\n/\\%]/.test(text));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(name, file, name), { maxLength: 5 }), async (files) => {
      const data = new FormData();
      for (const [field, bytes, fileName] of files)
        data.append(field, new Blob([new Uint8Array(bytes)]), `f${fileName}`);
      const response = new Response(data);
      const boundary = boundaryOf(response.headers.get("content-type") ?? "") ?? "";
      const parts = parseMultipart(Buffer.from(await response.arrayBuffer()), boundary, 10);
      expect(parts.map(({ name: field, fileName, bytes }) => [field, [...bytes], fileName])).toEqual(
        files.map(([field, bytes, fileName]) => [field, [...bytes], `f${fileName}`]),
      );
    }),
  );
});

test.each<[string, string, unknown[]]>([
  ["nothing", "--b--", []],
  ["a preamble and an epilogue", `hello\r\n${named('name="a"', "x")}--b--\r\nbye`, [{ name: "a", text: "x" }]],
  ["a part without a name", `${part("X: 1", "x")}${named('name="a"')}--b--`, [{ name: "a", text: "" }]],
  ["blanks after a boundary", named('name="a"', "x").replace("--b", "--b  ") + "--b--", [{ name: "a", text: "x" }]],
  ["a line that begins like the boundary", `${named('name="a"', "x\r\n--")}--b--`, [{ text: "x\r\n--" }]],
  ["a name without quotes", `${named("name=a; filename=f.wav")}--b--`, [{ name: "a", fileName: "f.wav" }]],
  [
    "quotes in names",
    `${named(String.raw`name="a\"b%22"; filename="C:\dir\x.wav"`)}--b--`,
    [{ name: 'a"b"', fileName: "x.wav" }],
  ],
  [
    "a name in UTF-8",
    `${named("name=a; filename*=UTF-8''s%C3%B6.wav; filename=s.wav")}--b--`,
    [{ fileName: "sö.wav" }],
  ],
  [
    "a type",
    `${part('content-type: Audio/MPEG; x=y\r\ncontent-disposition: form-data; name="a"')}--b--`,
    [{ mediaType: "audio/mpeg" }],
  ],
])("%s", (_what, text, parts) => {
  expect(parse(text)).toMatchObject(parts);
});

test.each([
  "",
  "hello",
  "--b",
  "--b\r\n",
  named('name="a"', "x"),
  `${named('name="a"', "x")}--bc\r\n`,
  "--b\r\nX: 1\r\n--b--",
  named('name="a"').repeat(11) + "--b--",
])("%j is not a form", (text) => {
  expect(() => parse(text)).toThrow(BadMultipart);
});

test.each([
  ["multipart/form-data; boundary=b", "b"],
  ['Multipart/Form-Data; charset=utf-8; boundary="a b"', "a b"],
  ["multipart/form-data", undefined],
  ["multipart/form-data; boundary=", undefined],
  ["multipart/mixed; boundary=b", undefined],
  ["application/json", undefined],
])("%s has the boundary %s", (type, boundary) => {
  expect(boundaryOf(type)).toBe(boundary);
});

function outcomeOf(text: string): string {
  try {
    return Array.isArray(parse(text)) ? "form" : "?";
  } catch (error) {
    return error instanceof BadMultipart ? "none" : String(error);
  }
}

test("any bytes are either a form or a BadMultipart", () => {
  const pieces = fc.constantFrom(
    "--b",
    "\r\n",
    "--",
    'content-disposition: form-data; name="a"',
    "x",
    "\r\n\r\n",
    '"',
    "\\",
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 40 }), (list) => {
      expect(outcomeOf(list.join(""))).toMatch(/^(?:form|none)$/);
    }),
  );
});
