import { isObject } from "../../lib/json.ts";
import type { CallOperation } from "../call/operation.ts";
import { BadReply } from "../providers/provider.ts";
import { readJsonReply } from "../providers/openai/read-reply.ts";
import { badMember, passJson, readJsonRequest } from "../request/read-json-request.ts";

/** Embeddings of texts. The input is recorded, the vectors are not. */
export function createEmbeddings(): CallOperation {
  return {
    operation: "embeddings",
    logType: "embedding",
    read(call, ledger) {
      const request = readJsonRequest(call, ledger, "embeddings", (members) => {
        const { input, encoding_format, dimensions } = members;
        ledger.content = {
          input,
          ...(encoding_format !== undefined && { encoding_format }),
          ...(dimensions !== undefined && { dimensions }),
        };
        return members;
      });
      const { input, encoding_format } = request.members;
      const format = encoding_format ?? "float";
      if (input === undefined || input === null || input === "") throw badMember("input", "must be text, or a list");
      return {
        ...request,
        isStream: false,
        reader() {
          let converted: Record<string, unknown> | undefined;
          return {
            readComplete(reply) {
              const { reply: answer, problem } = readJsonReply(reply);
              if (problem !== undefined) return problem;
              const { data, usage } = answer;
              if (!Array.isArray(data)) throw new BadReply("The provider's response has no embeddings.");
              const vectors = format === "float" || format === "base64" ? convertVectors(data, format) : data;
              converted = vectors === data ? undefined : { ...answer, data: vectors };
              if (isObject(usage)) ledger.usage = { completion_tokens: 0, ...usage };
              return undefined;
            },
            answer(reply, breakdown) {
              if (converted === undefined) return passJson(reply, breakdown);
              const extra = breakdown && { request_breakdown: breakdown };
              return { body: JSON.stringify({ ...converted, ...extra }) };
            },
          };
        },
      };
    },
  };
}

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
