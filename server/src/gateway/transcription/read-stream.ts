import { parseObjectText } from "../../lib/json.ts";
import { gatewayLimits } from "../limits.ts";
import type { CallLedger } from "../call/call-ledger.ts";
import { problemOfEvent } from "../providers/openai/problem.ts";
import type { EventReader } from "../stream/event-source.ts";
import { takeText, takeUsage } from "./read-reply.ts";

/**
 * Reads OpenAI's transcription stream: `transcript.text.delta` with a `delta` each, speakers as
 * `transcript.text.segment`, and `transcript.text.done` with the whole `text` and the `usage`. The ledger always
 * contains the text so far, as the stream may break off.
 */
export function readTranscriptStream(ledger: CallLedger): EventReader {
  let text = "";
  return {
    take: ({ data }) => {
      const event = data === undefined ? undefined : parseObjectText(data);
      if (event === undefined) return {};
      const { type } = event;
      if (type === "error" || event["error"]) return { problem: problemOfEvent(event) };
      if (type === "transcript.text.done") {
        takeText(typeof event["text"] === "string" ? event["text"] : text, ledger);
        takeUsage(event, ledger);
        return { isDone: true };
      }
      if (type === "transcript.text.delta" && typeof event["delta"] === "string") {
        if (text.length <= gatewayLimits.recordedChars) text += event["delta"];
        takeText(text, ledger);
      }
      return { hasContent: type === "transcript.text.delta" || type === "transcript.text.segment" };
    },
  };
}
