import { isObject, parseJson, parseObjectText } from "../../lib/json.ts";
import type { CallLedger } from "../call/call-ledger.ts";
import type { CompleteReply } from "../call/operation.ts";
import { gatewayLimits } from "../limits.ts";
import { readErrorWithin, problemOfEvent } from "../providers/openai/read-reply.ts";
import { BadReply, type UpstreamProblem } from "../providers/provider.ts";
import type { EventReader } from "../stream/event-source.ts";

/**
 * Stores the text of a transcription in the ledger, and its billing basis: tokens, or the duration that the upstream
 * stated. Without either, the ledger keeps the duration from the file.
 */
export function readTranscription(
  { bytes }: CompleteReply,
  isJson: boolean,
  ledger: CallLedger,
): UpstreamProblem | undefined {
  if (!isJson) {
    const text = bytes.toString("utf8");
    takeText(text, ledger);
    ledger.audioSeconds ??= lastCueSeconds(text);
    return undefined;
  }
  const parsed = parseJson(bytes);
  if (!parsed.ok || !isObject(parsed.value)) throw new BadReply("The provider's response is not a JSON object.");
  const reply = parsed.value;
  const problem = readErrorWithin(reply);
  if (problem !== undefined) return problem;
  if (typeof reply["text"] !== "string") throw new BadReply("The provider's response is not a transcription.");
  takeText(reply["text"], ledger);
  takeUsage(reply, ledger);
  return undefined;
}

/** Stores the text up to the recorded length. Called again as the text grows. */
function takeText(text: string, ledger: CallLedger): void {
  const recorded =
    text.length > gatewayLimits.recordedChars ? text.slice(0, gatewayLimits.recordedChars).toWellFormed() : text;
  if (recorded !== text) ledger.warnings = ["the transcription was too long to be recorded completely"];
  ledger.messages = [{ role: "assistant", content: recorded }];
}

/** `{type: "duration", seconds}`, `{type: "tokens", input_tokens, …}`, and the `duration` of `verbose_json`. */
function takeUsage({ usage, duration }: Record<string, unknown>, ledger: CallLedger): void {
  const stated = isObject(usage) ? secondsOf(usage["seconds"]) : undefined;
  ledger.audioSeconds = stated ?? secondsOf(duration) ?? ledger.audioSeconds;
  if (!isObject(usage) || typeof usage["input_tokens"] !== "number") return;
  const details = usage["input_token_details"];
  ledger.usage = { ...usage, ...(isObject(details) ? { input_tokens_details: details } : {}) };
}

/** The end of the last cue of SRT or WebVTT; undefined for other text. */
function lastCueSeconds(text: string): number | undefined {
  const end = [...text.matchAll(cueTimes)].at(-1);
  if (end === undefined) return undefined;
  const [, hours = "0", minutes = "0", seconds = "0"] = end;
  return secondsOf(Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds.replace(",", ".")));
}

const clock = String.raw`(?:\d+:)?\d{1,2}:\d{1,2}[.,]\d+`;
const cueTimes = new RegExp(String.raw`^[ \t]*${clock}[ \t]+-->[ \t]+(?:(\d+):)?(\d{1,2}):(\d{1,2}[.,]\d+)`, "gm");

function secondsOf(value: unknown): number | undefined {
  const seconds = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof seconds === "number" && Number.isFinite(seconds) && seconds > 0 ? seconds : undefined;
}

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
