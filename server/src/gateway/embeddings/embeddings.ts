import { isObject } from "../../lib/json.ts";
import { BadReply } from "../providers/provider.ts";
import { badMember, readJsonAsk, readJsonReply } from "../relay/read-json-ask.ts";
import type { RelayOperation } from "../relay/relay.ts";
import type { WholeReply } from "../relay/whole-exchange.ts";
import { convertVectors } from "./convert-vectors.ts";

/** Embeddings of texts. What they are made of is recorded, the vectors are not. */
export function createEmbeddings(): RelayOperation {
  return {
    operation: "embeddings",
    logType: "embedding",
    read(call, ledger) {
      const ask = readJsonAsk(call, ledger, "embeddings");
      const { input, encoding_format, dimensions } = ask.asked;
      const format = encoding_format ?? "float";
      let converted: Record<string, unknown> | undefined;
      if (input === undefined || input === null || input === "") throw badMember("input", "must be text, or a list");
      ledger.content = {
        input,
        ...(encoding_format !== undefined && { encoding_format }),
        ...(dimensions !== undefined && { dimensions }),
      };
      return {
        ...ask,
        read: (whole, toLedger) => {
          const { reply, problem } = readJsonReply(whole);
          if (problem !== undefined) return problem;
          const { data } = reply;
          if (!Array.isArray(data)) throw new BadReply("The provider's answer holds no embeddings.");
          const vectors = format === "float" || format === "base64" ? convertVectors(data, format) : data;
          converted = vectors === data ? undefined : { ...reply, data: vectors };
          if (isObject(reply["usage"])) toLedger.usage = { completion_tokens: 0, ...reply["usage"] };
          return undefined;
        },
        answer: (whole, breakdown) =>
          ask.answer(converted === undefined ? whole : withBody(whole, converted), breakdown),
      };
    },
  };
}

function withBody(reply: WholeReply, body: Record<string, unknown>): WholeReply {
  return { ...reply, bytes: Buffer.from(JSON.stringify(body)) };
}
