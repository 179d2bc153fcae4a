import { cleanText, rawJson, type RawNumber } from "../../lib/json.ts";
import { OtlpDecodeError } from "./export-request.ts";

/** Wire types of the protobuf encoding. */
export const wire = { varint: 0, fixed64: 1, bytes: 2, groupStart: 3, groupEnd: 4, fixed32: 5 } as const;

const groupDepthMax = 32;

/**
 * A cursor over one protobuf message. It never reads outside its slice and never allocates by a claimed length. Every
 * method throws `OtlpDecodeError` if the bytes end too early. https://protobuf.dev/programming-guides/encoding/
 */
export class ProtobufReader {
  readonly bytes: Buffer;
  at: number;
  readonly end: number;
  /** The field that `next` moved to. */
  field = 0;
  wireType = 0;

  constructor(bytes: Buffer, at = 0, end = bytes.length) {
    this.bytes = bytes;
    this.at = at;
    this.end = end;
  }

  /** Moves to the next field; returns false at the end. */
  next(): boolean {
    if (this.at >= this.end) return false;
    const tag = this.uint32();
    this.field = tag >>> 3;
    this.wireType = tag & 7;
    if (this.field === 0) throw malformed("a field has the number 0");
    return true;
  }

  /**
   * Whether the current field has this number and encoding. A field in another encoding counts as unknown, hence is
   * skipped.
   */
  is(field: number, wireType: number): boolean {
    return this.field === field && this.wireType === wireType;
  }

  message(): ProtobufReader {
    const end = this.lengthDelimitedEnd();
    const inner = new ProtobufReader(this.bytes, this.at, end);
    this.at = end;
    return inner;
  }

  /** Invalid UTF-8 reads as U+FFFD: it must not fail the whole export. */
  text(): string {
    const end = this.lengthDelimitedEnd();
    const text = this.bytes.toString("utf8", this.at, end);
    this.at = end;
    return cleanText(text);
  }

  base64(): string {
    const end = this.lengthDelimitedEnd();
    const text = this.bytes.toString("base64", this.at, end);
    this.at = end;
    return text;
  }

  /** An id of `size` bytes as hex; "" if it has another size or is all zero. */
  id(size: number): string {
    const end = this.lengthDelimitedEnd();
    const hex = end - this.at === size ? this.bytes.toString("hex", this.at, end) : "";
    this.at = end;
    return /[1-9a-f]/.test(hex) ? hex : "";
  }

  fixed64(): bigint {
    this.need(8);
    const value = this.bytes.readBigUInt64LE(this.at);
    this.at += 8;
    return value;
  }

  double(): number {
    this.need(8);
    const value = this.bytes.readDoubleLE(this.at);
    this.at += 8;
    return value;
  }

  bool(): boolean {
    return this.varint() !== 0n;
  }

  /** A signed 64-bit integer, exact. */
  int64(): number | RawNumber {
    const value = BigInt.asIntN(64, this.varint());
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : rawJson(value.toString());
  }

  /** The low 32 bits of a varint, for enums, counts, lengths and tags. */
  uint32(): number {
    const first = this.bytes[this.at] ?? 0;
    if (first < 0x80 && this.at < this.end) {
      this.at += 1;
      return first;
    }
    return Number(BigInt.asUintN(32, this.varint()));
  }

  skip(depth = 0): void {
    if (this.wireType === wire.varint) this.varint();
    else if (this.wireType === wire.fixed64) this.forward(8);
    else if (this.wireType === wire.bytes) this.at = this.lengthDelimitedEnd();
    else if (this.wireType === wire.fixed32) this.forward(4);
    else if (this.wireType === wire.groupStart && depth < groupDepthMax) this.skipGroup(this.field, depth);
    else throw malformed(`wire type ${this.wireType} cannot be read`);
  }

  private skipGroup(field: number, depth: number): void {
    while (this.next()) {
      if (this.wireType === wire.groupEnd) {
        if (this.field !== field) break;
        return;
      }
      this.skip(depth + 1);
    }
    throw malformed("a group does not end");
  }

  private varint(): bigint {
    // 49 bits fit a number; only longer varints need bigint arithmetic.
    let low = 0;
    let factor = 1;
    for (let read = 0; read < 7; read += 1) {
      const byte = this.byte();
      low += (byte & 0x7f) * factor;
      if (byte < 0x80) return BigInt(low);
      factor *= 128;
    }
    let value = BigInt(low);
    for (let shift = 49n; shift < 70n; shift += 7n) {
      const byte = this.byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw malformed("a varint is longer than ten bytes");
  }

  private byte(): number {
    this.need(1);
    const byte = this.bytes[this.at] ?? 0;
    this.at += 1;
    return byte;
  }

  private lengthDelimitedEnd(): number {
    const length = this.uint32();
    this.need(length);
    return this.at + length;
  }

  private forward(bytes: number): void {
    this.need(bytes);
    this.at += bytes;
  }

  private need(bytes: number): void {
    if (this.at + bytes > this.end) throw malformed("it ends too early");
  }
}

function malformed(what: string): OtlpDecodeError {
  return new OtlpDecodeError("malformed", `The body is not a protobuf export: ${what}.`);
}
