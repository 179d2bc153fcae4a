import { describe, expect, test } from "vitest";
import { readMedia } from "./media.ts";

const base64 = (text: string): string => Buffer.from(text, "latin1").toString("base64");
const png = base64("\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
const wav = base64("RIFF\x24\0\0\0WAVEfmt ");
const svg = base64('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>');
const html = base64("<html><script>alert(1)</script></html>");
const stored = `/api/media/${"ab".repeat(32)}/`;

describe("the type follows from the bytes", () => {
  test.each([
    ["png", png, "image/png"],
    ["jpeg", base64("\xff\xd8\xff\xe0\0\x10JFIF"), "image/jpeg"],
    ["gif", base64("GIF89a\x01\0\x01\0"), "image/gif"],
    ["webp", base64("RIFF\x24\0\0\0WEBPVP8 "), "image/webp"],
    ["avif", base64("\0\0\0\x20ftypavif\0\0\0\0"), "image/avif"],
  ])("an image: %s", (_name, data, mediaType) => {
    const media = readMedia({ shown: "image", data, mediaType: "application/x-anything" });
    expect(media).toMatchObject({ kind: "inline", shown: "image", mediaType, src: `data:${mediaType};base64,${data}` });
  });

  test.each([
    ["wav", wav, "audio/wav"],
    ["mp3", base64("ID3\x04\0\0\0\0"), "audio/mpeg"],
    ["ogg", base64("OggS\0\x02\0\0"), "audio/ogg"],
    ["sound in mp4", base64("\0\0\0\x20ftypisom\0\0"), "audio/mp4"],
    ["sound in webm", base64("\x1aE\xdf\xa3\x01\0\0"), "audio/webm"],
  ])("a recording: %s", (_name, data, mediaType) => {
    expect(readMedia({ shown: "audio", data })).toMatchObject({ kind: "inline", shown: "audio", mediaType });
  });

  test("a declared type is corrected", () => {
    const media = readMedia({ shown: "image", data: `data:text/html;charset=utf-8;base64,${png}` });
    expect(media).toMatchObject({ kind: "inline", src: `data:image/png;base64,${png}`, bytes: 16 });
  });

  test("line breaks and the URL-safe alphabet", () => {
    const jpeg = base64("\xff\xd8\xff\xfb\xff\xbf").replaceAll("+", "-").replaceAll("/", "_");
    expect(readMedia({ shown: "image", data: `${jpeg.slice(0, 4)}\r\n${jpeg.slice(4)}` })).toMatchObject({
      kind: "inline",
      mediaType: "image/jpeg",
    });
  });

  test.each([
    ["svg", { shown: "image", data: `data:image/svg+xml;base64,${svg}` }],
    ["svg as text", { shown: "image", data: "data:image/svg+xml,<svg onload=alert(1)>" }],
    ["HTML that says it is a PNG", { shown: "image", data: `data:image/png;base64,${html}` }],
    ["HTML beside a type", { shown: "image", data: html, mediaType: "image/png" }],
    ["a recording that says it is an image", { shown: "image", data: `data:image/png;base64,${wav}` }],
    ["an image that says it is a recording", { shown: "audio", data: png }],
    ["no base64", { shown: "image", data: 'data:image/png;base64,"><script>' }],
    ["a script address", { shown: "image", data: "javascript:alert(1)" }],
    ["a script address with tricks", { shown: "image", data: " JaVaScRiPt:alert(1)" }],
    ["a file address", { shown: "image", data: "file:///etc/passwd" }],
    ["blob", { shown: "image", data: "blob:http://x/1" }],
    ["a broken address", { shown: "image", data: "http://[" }],
    ["nothing", { shown: "image", data: "" }],
    ["no text", { shown: "image", data: { url: "x" } }],
    ["another path of this server", { shown: "image", data: "/api/auth/logout/" }],
    ["a path that climbs", { shown: "image", data: `/api/media/../${"ab".repeat(32)}/` }],
    ["a file of an unknown type", { shown: "file", data: base64("%PDF-1.7 x"), mediaType: "application/pdf" }],
  ] as const)("not shown: %s", (_name, claim) => {
    expect(readMedia(claim).kind).toBe("opaque");
  });
});

test("references to stored media are shown as the declared kind", () => {
  expect(readMedia({ shown: "image", data: stored })).toEqual({ kind: "stored", shown: "image", src: stored });
  expect(readMedia({ shown: "file", data: stored, mediaType: "audio/wav" })).toMatchObject({ shown: "audio" });
  expect(readMedia({ shown: "file", data: stored, mediaType: "text/html" })).toMatchObject({ shown: "file" });
});

test("other hosts are named, not contacted", () => {
  expect(readMedia({ shown: "image", data: "https://example.com:8443/a.png?x=1" })).toEqual({
    kind: "external",
    shown: "image",
    url: "https://example.com:8443/a.png?x=1",
    host: "example.com:8443",
  });
  // In punycode, which exposes look-alike characters.
  expect(readMedia({ shown: "image", data: "https://exаmple.com/a.png" })).toMatchObject({
    host: "xn--exmple-4nf.com",
  });
});
