import { crc32 } from "node:zlib";
import { ByteBuffer } from "../../../lib/byte-buffer.ts";

/**
 * The binary framing of AWS event streams (`application/vnd.amazon.eventstream`): lengths of the message and its
 * headers, a checksum of these, the headers, the payload, and a checksum of everything. Numbers are big-endian,
 * checksums CRC-32.
 */

export type EventMessage = {
  /** Only headers with text values: all relevant ones have them. */
  headers: Readonly<Record<string, string>>;
  payload: Buffer;
};

export type EventStreamDecoder = {
  /** The messages that these bytes complete. Throws `BadEventStream`; the decoder cannot be used afterwards. */
  push(bytes: Buffer): EventMessage[];
  /** Whether the stream may end here: no message is incomplete. */
  isBetweenMessages(): boolean;
};

export class BadEventStream extends Error {
  constructor(message: string) {
    super(message);
    this.name = "BadEventStream";
  }
}

const preludeBytes = 12;
const checksumBytes = 4;

export function createEventStreamDecoder(maxMessageBytes: number): EventStreamDecoder {
  const buffer = new ByteBuffer();
  /** How many bytes are needed before anything can be parsed. */
  let neededBytes = preludeBytes;

  /** The length of the message that begins here, once its prelude has arrived. */
  const lengthOfNext = (pending: Buffer): number | undefined => {
    if (pending.length < preludeBytes) return undefined;
    const length = pending.readUInt32BE(0);
    if (crc32(pending.subarray(0, 8)) !== pending.readUInt32BE(8)) throw new BadEventStream("a prelude is damaged");
    if (length > maxMessageBytes) throw new BadEventStream(`a message has more than ${maxMessageBytes} bytes`);
    if (length < preludeBytes + checksumBytes + pending.readUInt32BE(4)) throw new BadEventStream("lengths disagree");
    return length;
  };

  return {
    push: (bytes) => {
      const messages: EventMessage[] = [];
      if (buffer.length + bytes.length < neededBytes) {
        buffer.add(bytes);
        return messages;
      }
      let pending = buffer.drainWith(bytes);
      let length = lengthOfNext(pending);
      while (length !== undefined && pending.length >= length) {
        messages.push(readMessage(pending.subarray(0, length)));
        pending = pending.subarray(length);
        length = lengthOfNext(pending);
      }
      neededBytes = length ?? preludeBytes;
      buffer.add(pending);
      return messages;
    },
    isBetweenMessages: () => buffer.length === 0,
  };
}

function readMessage(message: Buffer): EventMessage {
  const end = message.length - checksumBytes;
  if (crc32(message.subarray(0, end)) !== message.readUInt32BE(end)) throw new BadEventStream("a message is damaged");
  const headersEnd = preludeBytes + message.readUInt32BE(4);
  return {
    headers: readHeaders(message.subarray(preludeBytes, headersEnd)),
    payload: message.subarray(headersEnd, end),
  };
}

/** The size of a value by its type, for types of fixed size: booleans have no bytes. */
const fixedBytes: Readonly<Record<number, number>> = { 0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16 };
const bytesType = 6;
const textType = 7;

function readHeaders(bytes: Buffer): Record<string, string> {
  const headers: Record<string, string> = {};
  let at = 0;
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new BadEventStream("headers are truncated");
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const name = take(take(1).readUInt8(0)).toString("utf8");
    const type = take(1).readUInt8(0);
    const fixed = fixedBytes[type];
    if (fixed === undefined && type !== textType && type !== bytesType) throw new BadEventStream("a header is unknown");
    const value = take(fixed ?? take(2).readUInt16BE(0));
    if (type === textType) headers[name] = value.toString("utf8");
  }
  return headers;
}
