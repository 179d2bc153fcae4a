import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { audioSeconds } from "./audio-duration.ts";

const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
};
const u32le = (value: number): Buffer => u32(value).reverse();
const box = (name: string, ...content: Buffer[]): Buffer => {
  const body = Buffer.concat(content);
  return Buffer.concat([u32(body.length + 8), Buffer.from(name), body]);
};

function wav(dataBytes: number, statedBytes = dataBytes): Buffer {
  const format = Buffer.concat([Buffer.from([1, 0, 1, 0]), u32le(8_000), u32le(16_000), Buffer.from([2, 0, 16, 0])]);
  const chunks = [Buffer.from("fmt "), u32le(16), format, Buffer.from("LIST"), u32le(3), Buffer.from("abc\0")];
  return Buffer.concat([
    Buffer.from("RIFF"),
    u32le(0),
    Buffer.from("WAVE"),
    ...chunks,
    Buffer.from("data"),
    u32le(statedBytes),
    Buffer.alloc(dataBytes),
  ]);
}

/** Frames of 128 kbit/s at 44,100 samples per second. */
const mp3 = (frames: number, before = Buffer.alloc(0)): Buffer =>
  Buffer.concat([before, ...Array.from({ length: frames }, () => Buffer.concat([u32(0xfffb9000), Buffer.alloc(413)]))]);

function oggPage(samples: bigint, content: Buffer): Buffer {
  const head = Buffer.alloc(27);
  head.write("OggS");
  head.writeBigInt64LE(samples, 6);
  return Buffer.concat([head, content]);
}

const flac = Buffer.concat([
  Buffer.from("fLaC"),
  Buffer.from([0x80, 0, 0, 34]),
  Buffer.alloc(10),
  // 16,000 Hz in 20 bits, then channels and bits per sample, then 36 bits for 40,000 samples.
  Buffer.from([0x03, 0xe8, 0x00, 0xf0]),
  u32(40_000),
]);

test.each<[string, Buffer, number]>([
  ["a WAV", wav(24_000), 1.5],
  ["a WAV that was streamed", wav(24_000, 0xffffffff), 1.5],
  ["a FLAC", flac, 2.5],
  ["an MP3 of frames", mp3(100), (100 * 1_152) / 44_100],
  [
    "an MP3 behind a tag",
    mp3(10, Buffer.concat([Buffer.from("ID3\x04\0\0\0\0\0\x05"), Buffer.alloc(5)])),
    11_520 / 44_100,
  ],
  [
    "an MP4",
    Buffer.concat([
      box("ftyp", Buffer.from("M4A ")),
      box("moov", box("mvhd", u32(0), u32(0), u32(0), u32(600), u32(1_500), Buffer.alloc(12))),
    ]),
    2.5,
  ],
  ["an Opus", Buffer.concat([oggPage(0n, Buffer.from("OpusHead")), oggPage(96_000n, Buffer.alloc(9))]), 2],
])("reads the duration of %s", (_what, bytes, seconds) => {
  expect(audioSeconds(bytes)).toBeCloseTo(seconds, 6);
});

test("reads the duration of a real MP3", () => {
  const bytes = readFileSync(new URL("../../test/fixtures/audio/sample1.mp3", import.meta.url));
  expect(audioSeconds(bytes)).toBeGreaterThan(5);
  expect(audioSeconds(bytes)).toBeLessThan(15);
});

test("never throws or loops, whatever the bytes", () => {
  const files = [wav(100), flac, mp3(3), oggPage(1n, Buffer.from("OpusHead")), box("ftyp", Buffer.alloc(4))];
  fc.assert(
    fc.property(
      fc.constantFrom(...files, Buffer.alloc(0)),
      fc.nat(200),
      fc.uint8Array({ maxLength: 64 }),
      (file, at, noise) => {
        const seconds = audioSeconds(Buffer.concat([file.subarray(0, at), noise]));
        expect(seconds === undefined || seconds > 0).toBe(true);
      },
    ),
  );
});
