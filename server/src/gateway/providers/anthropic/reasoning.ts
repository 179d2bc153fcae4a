import { lookUp } from "../../../lib/look-up.ts";
import { isObject } from "../../../lib/json.ts";
import type { Conversation } from "../shared/conversation.ts";
import { refuse } from "../shared/refuse.ts";
import { signedThinking } from "../shared/thinking.ts";
import type { ClaudeModel, Effort } from "./models.ts";

/** The reasoning settings of a request to a Claude model. */
export type Reasoning = {
  /** `thinking` of the request; absent if the model's default applies. */
  thinking?: Record<string, unknown>;
  effort?: Effort;
  /** Whether the model thinks: then earlier thinking may be sent, and sampling must not be set. */
  isOn: boolean;
  /** The caller's token bound, increased by a thinking budget that the caller stated itself. */
  maxTokens: number;
};

export type ReasoningRequest = {
  members: Record<string, unknown>;
  model: ClaudeModel;
  conversation: Conversation;
  maxTokens: number | undefined;
  /** A model that is forced to call a tool cannot think first. */
  isToolForced: boolean;
  adjusted: string[];
};

/** The share of the token bound that thinking may use. */
const shares: Readonly<Record<string, number>> = {
  minimal: 0.1,
  low: 0.2,
  medium: 0.5,
  high: 0.8,
  xhigh: 0.9,
  max: 0.9,
};

/** According to the documentation, a larger budget gains little and makes calls slow. */
const maxBudget = 32_000;
const minBudget = 1_024;

/**
 * Reads Anthropic's `thinking` and OpenAI's `reasoning_effort`. The first is binding; the second is a preference: if it
 * cannot be met, it is omitted and reported.
 */
export function readReasoning(request: ReasoningRequest): Reasoning {
  const effort = request.members["reasoning_effort"];
  if (
    effort !== undefined &&
    (typeof effort !== "string" || (effort !== "none" && lookUp(shares, effort) === undefined))
  ) {
    return refuse("reasoning_effort", "must be none, minimal, low, medium, high, xhigh or max");
  }
  const thinking = request.members["thinking"];
  if (thinking !== undefined && !isObject(thinking)) return refuse("thinking", "must be an object");
  const guided = guide(request, effort);
  return thinking ? ordered(request, thinking, guided) : guided;
}

/** The reasoning by the caller's own `thinking`. */
function ordered(request: ReasoningRequest, thinking: Record<string, unknown>, guided: Reasoning): Reasoning {
  const { model, adjusted } = request;
  const effort = guided.effort ? { effort: guided.effort } : {};
  const maxTokens = request.maxTokens ?? model.maxTokens;
  if (thinking["type"] === "disabled") return { thinking, ...effort, isOn: false, maxTokens };
  if (thinking["type"] !== "enabled") return { thinking, ...effort, isOn: true, maxTokens };
  if (!model.takesSampling && model.thinking === "adaptive") {
    adjusted.push("thinking");
    return { thinking: adaptive, ...effort, isOn: true, maxTokens };
  }
  const budget = typeof thinking["budget_tokens"] === "number" ? thinking["budget_tokens"] : minBudget;
  return {
    thinking: { ...thinking, budget_tokens: budget },
    ...effort,
    isOn: true,
    maxTokens: maxTokens > budget ? maxTokens : maxTokens + budget,
  };
}

const adaptive = { type: "adaptive", display: "summarized" };

/** The reasoning by `reasoning_effort`. */
function guide(request: ReasoningRequest, effort: string | undefined): Reasoning {
  const { model, adjusted, isToolForced } = request;
  const maxTokens = request.maxTokens ?? model.maxTokens;
  if (model.thinking === "adaptive") return guideAdaptive(request, effort, maxTokens);
  if (effort === undefined || effort === "none") return { isOn: false, maxTokens };
  const budget = Math.max(minBudget, Math.floor(Math.min(maxTokens, maxBudget) * (lookUp(shares, effort) ?? 0)));
  const isPossible = model.thinking === "budget" && budget < maxTokens && !isToolForced && mayBeginThinking(request);
  if (!isPossible) {
    adjusted.push("reasoning_effort");
    return { isOn: false, maxTokens };
  }
  return { thinking: { type: "enabled", budget_tokens: budget }, isOn: true, maxTokens };
}

function guideAdaptive(request: ReasoningRequest, effort: string | undefined, maxTokens: number): Reasoning {
  const { model, adjusted, isToolForced } = request;
  const isStopped = (effort === "none" || isToolForced) && model.canStopThinking;
  if (isStopped) {
    const thinking = model.thinksByDefault ? { thinking: { type: "disabled" } } : {};
    // Newer models refuse an effort above `high` while thinking is off.
    const capped =
      effort === undefined || effort === "none" ? {} : effortOf(effort, model.efforts.slice(0, 3), adjusted);
    return { ...thinking, ...capped, isOn: false, maxTokens };
  }
  if (effort === undefined) return { isOn: model.thinksByDefault, maxTokens };
  if (effort === "none") adjusted.push("reasoning_effort");
  return { thinking: adaptive, ...effortOf(effort, model.efforts, adjusted), isOn: true, maxTokens };
}

const order = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/** The strongest effort of the model that is not above the requested one, else its weakest. */
function effortOf(effort: string, efforts: readonly Effort[], adjusted: string[]): { effort?: Effort } {
  const found = efforts.findLast((one) => order.indexOf(one) <= order.indexOf(effort)) ?? efforts[0];
  if (found !== effort && effort !== "none" && effort !== "minimal") adjusted.push("reasoning_effort");
  return found ? { effort: found } : {};
}

/**
 * Whether a model with a thinking budget may think now: a response with tool calls that is being continued must have
 * started with signed thinking, which clients that do not know it do not send back.
 */
function mayBeginThinking({ conversation }: ReasoningRequest): boolean {
  const last = conversation.turns.at(-1);
  const before = conversation.turns.at(-2);
  if (last?.role !== "user") return false;
  if (last.results.length === 0) return true;
  return before?.role === "assistant" && signedThinking(before.thinkingBlocks).length > 0;
}
