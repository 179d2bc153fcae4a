import { isObject } from "../../lib/json.ts";
import { BadReply } from "../providers/provider.ts";

const floatBytes = 4;

/**
 * The vectors of a reply in the encoding that the caller requested: base64 of little-endian float32, or a list of
 * numbers. Providers that support only one of them ignore the parameter, and SDKs decode what they requested. Vectors
 * in another encoding, such as lists of integers in an object, stay unchanged.
 * @returns the same list if nothing had to change
 * @throws BadReply for text that is not base64 of float32
 */
export function convertVectors(data: readonly unknown[], format: "float" | "base64"): readonly unknown[] {
  let isChanged = false;
  const converted = data.map((item) => {
    if (!isObject(item)) return item;
    const embedding = convert(item["embedding"], format);
    if (embedding === item["embedding"]) return item;
    isChanged = true;
    return { ...item, embedding };
  });
  return isChanged ? converted : data;
}

function convert(vector: unknown, format: "float" | "base64"): unknown {
  if (format === "float") return typeof vector === "string" ? numbersOf(vector) : vector;
  return Array.isArray(vector) ? textOf(vector) : vector;
}

function numbersOf(text: string): number[] {
  const bytes = Buffer.from(text, "base64");
  const isBase64 = /^[A-Za-z0-9+/_-]*={0,2}$/.test(text);
  if (!isBase64 || bytes.length === 0 || bytes.length % floatBytes !== 0) {
    throw new BadReply("The provider's embeddings are neither numbers nor base64 of float32.");
  }
  return Array.from({ length: bytes.length / floatBytes }, (_, i) => bytes.readFloatLE(i * floatBytes));
}

function textOf(numbers: readonly unknown[]): string {
  const bytes = Buffer.allocUnsafe(numbers.length * floatBytes);
  for (const [i, number] of numbers.entries()) {
    if (typeof number !== "number")
      throw new BadReply("The provider's embeddings contain something other than numbers.");
    bytes.writeFloatLE(number, i * floatBytes);
  }
  return bytes.toString("base64");
}
