import { parseObjectText } from "../../lib/json.ts";
import { gatewayLimits } from "../limits.ts";
import type { CallLedger } from "../call/call-ledger.ts";
import { problemOfEvent } from "../providers/openai/problem.ts";
import type { EventReader } from "../stream/event-source.ts";
import { takeText, takeUsage } from "./read-reply.ts";

/**
 * OpenAI's stream of a transcription: `transcript.text.delta` with a `delta` each, speakers as `transcript.text.segment`, and
 * `transcript.text.done` with all of the `text` and the `usage`. What was said so far is in the ledger at any time, as the stream may
 * break.
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
