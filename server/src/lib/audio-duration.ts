/**
 * The duration of a recording in seconds, from the head of its file: WAV, FLAC, MP3, MP4 and Ogg. `undefined` if the
 * file has another format, is truncated in the wrong place, or does not state it.
 */
export function audioSeconds(bytes: Buffer): number | undefined {
  const seconds = readers.map((read) => read(bytes)).find((read) => read !== undefined);
  return seconds !== undefined && Number.isFinite(seconds) && seconds > 0 ? seconds : undefined;
}

const readers = [wavSeconds, flacSeconds, oggSeconds, mp4Seconds, mp3Seconds];

function tag(bytes: Buffer, at: number): string {
  return bytes.toString("latin1", at, at + 4);
}

/** RIFF chunks: `fmt ` states the bytes per second, `data` the number of bytes. */
function wavSeconds(bytes: Buffer): number | undefined {
  if (tag(bytes, 0) !== "RIFF" || tag(bytes, 8) !== "WAVE") return undefined;
  let bytesPerSecond = 0;
  for (let at = 12; at + 8 <= bytes.length;) {
    const size = bytes.readUInt32LE(at + 4);
    if (tag(bytes, at) === "fmt " && at + 20 <= bytes.length) bytesPerSecond = bytes.readUInt32LE(at + 16);
    // Streaming recorders leave the size open; then the bytes in the file count.
    if (tag(bytes, at) === "data") return Math.min(size, bytes.length - at - 8) / bytesPerSecond;
    at += 8 + size + (size % 2);
  }
  return undefined;
}

/** STREAMINFO: 20 bits of sample rate, and after 8 bits 36 of samples. */
function flacSeconds(bytes: Buffer): number | undefined {
  if (tag(bytes, 0) !== "fLaC" || bytes.length < 26) return undefined;
  const rate = bytes.readUIntBE(18, 3) >> 4;
  const samples = (bytes.readUInt8(21) & 0x0f) * 2 ** 32 + bytes.readUInt32BE(22);
  return samples / rate;
}

/** The last page states the total number of samples; Opus always counts 48,000 per second. */
function oggSeconds(bytes: Buffer): number | undefined {
  if (tag(bytes, 0) !== "OggS") return undefined;
  const last = bytes.lastIndexOf("OggS", undefined, "latin1");
  if (last + 14 > bytes.length) return undefined;
  const samples = Number(bytes.readBigInt64LE(last + 6));
  const head = bytes.subarray(0, 256);
  if (head.includes("OpusHead")) return samples / 48_000;
  const vorbis = head.indexOf("\x01vorbis", 0, "latin1");
  return vorbis === -1 || vorbis + 16 > head.length ? undefined : samples / head.readUInt32LE(vorbis + 12);
}

/** `mvhd` within `moov` has a time scale, and the duration in its units. */
function mp4Seconds(bytes: Buffer): number | undefined {
  if (tag(bytes, 4) !== "ftyp") return undefined;
  const movie = findBox(bytes, "moov");
  const header = movie && findBox(movie, "mvhd");
  if (!header || header.length < 32) return undefined;
  const isWide = header.readUInt8(0) === 1;
  if (isWide) return Number(header.readBigUInt64BE(24)) / header.readUInt32BE(20);
  return header.readUInt32BE(16) / header.readUInt32BE(12);
}

function findBox(bytes: Buffer, name: string): Buffer | undefined {
  for (let at = 0; at + 8 <= bytes.length;) {
    let size = bytes.readUInt32BE(at);
    let head = 8;
    if (size === 1 && at + 16 <= bytes.length) {
      size = Number(bytes.readBigUInt64BE(at + 8));
      head = 16;
    } else if (size === 0) size = bytes.length - at;
    if (size < head) return undefined;
    if (tag(bytes, at + 4) === name) return bytes.subarray(at + head, at + size);
    at += size;
  }
  return undefined;
}

type Mp3Frame = { bytes: number; samples: number; rate: number; isMono: boolean; isMpeg1: boolean };

/** Uses the Xing or Info frame that encoders put first, else counts frame by frame. */
function mp3Seconds(bytes: Buffer): number | undefined {
  let at = firstFrame(bytes, afterId3(bytes));
  let frame = readFrame(bytes, at);
  if (!frame) return undefined;
  const counted = countedFrames(bytes, at, frame);
  if (counted !== undefined) return (counted * frame.samples) / frame.rate;
  let seconds = 0;
  while (frame) {
    seconds += frame.samples / frame.rate;
    at += frame.bytes;
    frame = readFrame(bytes, at);
  }
  return seconds;
}

function afterId3(bytes: Buffer): number {
  if (bytes.length < 10 || bytes.toString("latin1", 0, 3) !== "ID3") return 0;
  // A size of four bytes with seven bits each.
  return 10 + [6, 7, 8, 9].reduce((size, at) => size * 128 + (bytes.readUInt8(at) & 0x7f), 0);
}

// Padding between the tag and the first frame is short.
const maxPadding = 8_192;

/** Requires two frames in a row: a single one may be chance. */
function firstFrame(bytes: Buffer, from: number): number {
  for (let at = from; at < Math.min(from + maxPadding, bytes.length - 4); at += 1) {
    const frame = readFrame(bytes, at);
    const next = at + (frame?.bytes ?? 0);
    if (frame && (next === bytes.length || readFrame(bytes, next))) return at;
  }
  return bytes.length;
}

const mpeg1Rates = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const mpeg2Rates = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
const sampleRates = [44_100, 48_000, 32_000];

function readFrame(bytes: Buffer, at: number): Mp3Frame | undefined {
  if (at + 4 > bytes.length) return undefined;
  const head = bytes.readUInt32BE(at);
  const version = (head >>> 19) & 3;
  const layer = (head >>> 17) & 3;
  if (head >>> 21 !== 0x7ff || version === 1 || layer !== 1) return undefined;
  const isMpeg1 = version === 3;
  const kbits = (isMpeg1 ? mpeg1Rates : mpeg2Rates)[(head >>> 12) & 15] ?? 0;
  const rate = (sampleRates[(head >>> 10) & 3] ?? 0) / (isMpeg1 ? 1 : version === 2 ? 2 : 4);
  if (kbits === 0 || rate === 0) return undefined;
  const samples = isMpeg1 ? 1_152 : 576;
  const size = Math.floor((samples * kbits * 125) / rate) + ((head >>> 9) & 1);
  return { bytes: size, samples, rate, isMono: ((head >>> 6) & 3) === 3, isMpeg1 };
}

function countedFrames(bytes: Buffer, at: number, { isMono, isMpeg1 }: Mp3Frame): number | undefined {
  const xing = at + 4 + (isMpeg1 ? (isMono ? 17 : 32) : isMono ? 9 : 17);
  const hasCount = ["Xing", "Info"].includes(tag(bytes, xing)) && xing + 12 <= bytes.length;
  return hasCount && (bytes.readUInt32BE(xing + 4) & 1) === 1 ? bytes.readUInt32BE(xing + 8) : undefined;
}
