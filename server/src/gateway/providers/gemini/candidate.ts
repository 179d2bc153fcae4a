import { createHash } from "node:crypto";
import { isObject } from "../../../lib/json.ts";
import type { DrawnImage, ExtraContent, FinishReason, ToolCall } from "../provider.ts";
import { jsonToolName } from "../shared/response-format.ts";

/** The content of a part of a candidate; parts of Gemini's own tools have no counterpart for clients. */
export type CandidateItem =
  | { type: "text" | "thought"; text: string }
  | { type: "image"; image: DrawnImage }
  | { type: "call"; call: ToolCall };

/** @param idOf see `createCallIds` */
export function readPart(part: unknown, idOf: (given: unknown) => string): CandidateItem | undefined {
  if (!isObject(part)) return undefined;
  const { text, functionCall } = part;
  if (typeof text === "string") return { type: part["thought"] === true ? "thought" : "text", text };
  const image = imageOf(part);
  // Drafts in the thoughts of image models are not part of the response.
  if (image !== undefined) return part["thought"] === true ? undefined : { type: "image", image };
  if (!isObject(functionCall) || typeof functionCall["name"] !== "string") return undefined;
  const args = JSON.stringify(isObject(functionCall["args"]) ? functionCall["args"] : {});
  // A call of the tool of a JSON response: its arguments are the text.
  if (functionCall["name"] === jsonToolName) return { type: "text", text: args };
  return {
    type: "call",
    call: {
      id: idOf(functionCall["id"]),
      type: "function",
      function: { name: functionCall["name"], arguments: args },
      ...signatureOf(part),
    },
  };
}

function signatureOf({ thoughtSignature }: Record<string, unknown>): { extra_content?: ExtraContent } {
  return typeof thoughtSignature === "string"
    ? { extra_content: { google: { thought_signature: thoughtSignature } } }
    : {};
}

function imageOf(part: Record<string, unknown>): DrawnImage | undefined {
  const inline = part["inlineData"];
  if (!isObject(inline) || typeof inline["data"] !== "string") return undefined;
  const { mimeType, data } = inline;
  if (typeof mimeType !== "string" || !/^image\/[\w.+-]+$/.test(mimeType)) return undefined;
  return { type: "image_url", image_url: { url: `data:${mimeType};base64,${data}` }, ...signatureOf(part) };
}

/**
 * Creates the ids of the calls of one response: Gemini's own, which newer models return, else generated unique ones.
 * @param seed unique to the response
 */
export function createCallIds(seed: string): (given: unknown) => string {
  const taken = new Set<string>();
  return (given) => {
    const isUsable = typeof given === "string" && given !== "" && !taken.has(given);
    const id = isUsable ? given : `call_${digest(`${seed}:${taken.size}`)}`;
    taken.add(id);
    return id;
  };
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 24);
}

const filtered = new Set<unknown>([
  "SAFETY",
  "RECITATION",
  "LANGUAGE",
  "BLOCKLIST",
  "PROHIBITED_CONTENT",
  "SPII",
  "IMAGE_SAFETY",
  "IMAGE_PROHIBITED_CONTENT",
  "IMAGE_RECITATION",
]);

/** The model's output was malformed, or Gemini does not state why it stopped: not a valid response. */
const broken = new Set<unknown>([
  "FINISH_REASON_UNSPECIFIED",
  "OTHER",
  "MALFORMED_FUNCTION_CALL",
  "MALFORMED_RESPONSE",
  "UNEXPECTED_TOOL_CALL",
  "TOO_MANY_TOOL_CALLS",
  "MISSING_THOUGHT_SIGNATURE",
]);

/** `undefined` if the reason is not one of a valid response. */
export function toFinishReason(reason: unknown, hasCalls: boolean): FinishReason | undefined {
  if (typeof reason !== "string" || broken.has(reason)) return undefined;
  if (reason === "MAX_TOKENS") return "length";
  if (filtered.has(reason)) return "content_filter";
  return hasCalls ? "tool_calls" : "stop";
}

/** Why the response was withheld, if Gemini states it. */
export function refusalOf({ finishReason, finishMessage }: Record<string, unknown>): string | undefined {
  return filtered.has(finishReason) && typeof finishMessage === "string" && finishMessage !== ""
    ? finishMessage
    : undefined;
}

/** Why there is no response at all: the prompt was blocked. */
export function blockOf(reply: Record<string, unknown>): string | undefined {
  const feedback = reply["promptFeedback"];
  const reason = isObject(feedback) ? feedback["blockReason"] : undefined;
  if (!isObject(feedback) || typeof reason !== "string") return undefined;
  const message = feedback["blockReasonMessage"];
  return typeof message === "string" && message !== "" ? message : `The prompt was blocked: ${reason}`;
}

/** `logprobsResult` in OpenAI's form. */
export function toLogprobs(result: unknown): { content: unknown[]; refusal: null } | undefined {
  if (!isObject(result) || !Array.isArray(result["chosenCandidates"])) return undefined;
  const steps = Array.isArray(result["topCandidates"]) ? (result["topCandidates"] as unknown[]) : [];
  const content = (result["chosenCandidates"] as unknown[]).filter(isObject).map((chosen, i) => {
    const step = steps[i];
    const others = isObject(step) && Array.isArray(step["candidates"]) ? (step["candidates"] as unknown[]) : [];
    return { ...toLogprob(chosen), top_logprobs: others.filter(isObject).map(toLogprob) };
  });
  return { content, refusal: null };
}

function toLogprob({ token, logProbability }: Record<string, unknown>): Record<string, unknown> {
  const text = typeof token === "string" ? token : "";
  return {
    token: text,
    logprob: typeof logProbability === "number" ? logProbability : 0,
    bytes: [...Buffer.from(text, "utf8")],
  };
}
