import { createHash } from "node:crypto";
import { isObject } from "../../../lib/json.ts";
import type { DrawnImage, ExtraContent, FinishReason, ToolCall } from "../provider.ts";
import { jsonToolName } from "../shared/response-format.ts";

/** What a part of a candidate says; parts of Gemini's own tools say nothing that clients have a place for. */
export type Said =
  | { type: "text" | "thought"; text: string }
  | { type: "image"; image: DrawnImage }
  | { type: "call"; call: ToolCall };

/** @param idOf see `createCallIds` */
export function readPart(part: unknown, idOf: (given: unknown) => string): Said | undefined {
  if (!isObject(part)) return undefined;
  const { text, functionCall } = part;
  if (typeof text === "string") return { type: part["thought"] === true ? "thought" : "text", text };
  const image = imageOf(part);
  // Thoughts of models that draw have drafts, which are no part of the answer.
  if (image !== undefined) return part["thought"] === true ? undefined : { type: "image", image };
  if (!isObject(functionCall) || typeof functionCall["name"] !== "string") return undefined;
  const args = JSON.stringify(isObject(functionCall["args"]) ? functionCall["args"] : {});
  // Gemini knows no tool for the JSON answer: its arguments are the text.
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
 * Ids of the calls of one answer: those that Gemini gives, as newer models do, else some that no other call has.
 * @param seed what no other answer has
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

/** The model's output could not be read, or Gemini does not say why it stopped: that is no answer. */
const broken = new Set<unknown>([
  "FINISH_REASON_UNSPECIFIED",
  "OTHER",
  "MALFORMED_FUNCTION_CALL",
  "MALFORMED_RESPONSE",
  "UNEXPECTED_TOOL_CALL",
  "TOO_MANY_TOOL_CALLS",
  "MISSING_THOUGHT_SIGNATURE",
]);

/** `undefined` for what is no finish of an answer. */
export function toFinishReason(reason: unknown, hasCalls: boolean): FinishReason | undefined {
  if (typeof reason !== "string" || broken.has(reason)) return undefined;
  if (reason === "MAX_TOKENS") return "length";
  if (filtered.has(reason)) return "content_filter";
  return hasCalls ? "tool_calls" : "stop";
}

/** Why an answer, or the prompt, was held back, where Gemini says so. */
export function refusalOf({ finishReason, finishMessage }: Record<string, unknown>): string | undefined {
  return filtered.has(finishReason) && typeof finishMessage === "string" && finishMessage !== ""
    ? finishMessage
    : undefined;
}

/** Why there is no answer at all: the prompt was blocked. */
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
