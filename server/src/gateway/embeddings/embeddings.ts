import { isObject } from "../../lib/json.ts";
import type { CallOperation } from "../call/operation.ts";
import { BadReply } from "../providers/provider.ts";
import { badMember, passJson, readJsonReply, readJsonRequest } from "../request/read-json-request.ts";
import { convertVectors } from "./convert-vectors.ts";

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
            whole(reply) {
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
