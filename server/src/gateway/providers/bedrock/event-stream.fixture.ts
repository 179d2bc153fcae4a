import { crc32 } from "node:zlib";

/** Writes a message of an AWS event stream, for tests. Headers are text, or encoded bytes. */
export function encodeMessage(headers: Readonly<Record<string, string>> | Buffer, payload: Buffer): Buffer {
  const written = Buffer.isBuffer(headers)
    ? headers
    : Buffer.concat(
        Object.entries(headers).map(([name, value]) => {
          const length = Buffer.alloc(2);
          length.writeUInt16BE(Buffer.byteLength(value));
          return Buffer.concat([
            Buffer.from([Buffer.byteLength(name)]),
            Buffer.from(name),
            Buffer.from([7]),
            length,
            Buffer.from(value),
          ]);
        }),
      );
  const prelude = Buffer.alloc(8);
  prelude.writeUInt32BE(16 + written.length + payload.length, 0);
  prelude.writeUInt32BE(written.length, 4);
  const checked = Buffer.concat([prelude, checksum(prelude), written, payload]);
  return Buffer.concat([checked, checksum(checked)]);
}

/** An event as ConverseStream sends it. */
export function encodeEvent(type: string, payload: unknown): Buffer {
  const headers = { ":event-type": type, ":content-type": "application/json", ":message-type": "event" };
  return encodeMessage(headers, Buffer.from(JSON.stringify(payload)));
}

function checksum(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(bytes));
  return sum;
}
