/**
 * Texts as byte strings: the UTF-8 bytes of a text, each as one character up to U+00FF. V8 stores such a string with
 * one byte per character, and copies it on reads and writes, whereas UTF-8 must be decoded and encoded.
 */

export function fromByteString(bytes: string): string {
  return beyondAscii.test(bytes) ? Buffer.from(bytes, "latin1").toString("utf8") : bytes;
}

export function toByteString(text: string): string {
  return beyondAscii.test(text) ? Buffer.from(text, "utf8").toString("latin1") : text;
}

const beyondAscii = /[^\0-\x7f]/;
