import { lookUp } from "../../../lib/look-up.ts";
import { isObject } from "../../../lib/json.ts";
import type { Conversation } from "../shared/conversation.ts";
import { refuse } from "../shared/refuse.ts";
import { signedThinking } from "../shared/thinking.ts";
import type { ClaudeModel, Effort } from "./models.ts";

/** How a Claude is asked to think. */
export type Reasoning = {
  /** `thinking` of the request, absent where the model's default is right. */
  thinking?: Record<string, unknown>;
  effort?: Effort;
  /** Whether the model thinks: earlier thinking may be sent then, and sampling may not be set. */
  isOn: boolean;
  /** The bound that the caller asked for, raised by a budget that it named itself. */
  maxTokens: number;
};

export type ReasoningAsked = {
  members: Record<string, unknown>;
  model: ClaudeModel;
  conversation: Conversation;
  maxTokens: number | undefined;
  /** A model that must call a tool cannot think first. */
  isToolForced: boolean;
  adjusted: string[];
};

/** The part of the bound on tokens that thinking may take. */
const shares: Readonly<Record<string, number>> = {
  minimal: 0.1,
  low: 0.2,
  medium: 0.5,
  high: 0.8,
  xhigh: 0.9,
  max: 0.9,
};

/** Beyond it, thinking gains little and a call takes long, says the documentation. */
const maxBudget = 32_000;
const minBudget = 1_024;

/**
 * Reads `thinking`, Anthropic's own, and `reasoning_effort`, OpenAI's. The first is an order, the second a wish: where
 * it cannot be had it is left out and reported.
 */
export function readReasoning(asked: ReasoningAsked): Reasoning {
  const effort = asked.members["reasoning_effort"];
  if (
    effort !== undefined &&
    (typeof effort !== "string" || (effort !== "none" && lookUp(shares, effort) === undefined))
  ) {
    return refuse("reasoning_effort", "must be none, minimal, low, medium, high, xhigh or max");
  }
  const thinking = asked.members["thinking"];
  if (thinking !== undefined && !isObject(thinking)) return refuse("thinking", "must be an object");
  const guided = guide(asked, effort);
  return thinking ? ordered(asked, thinking, guided) : guided;
}

/** What the caller's own `thinking` makes of it. */
function ordered(asked: ReasoningAsked, thinking: Record<string, unknown>, guided: Reasoning): Reasoning {
  const { model, adjusted } = asked;
  const effort = guided.effort ? { effort: guided.effort } : {};
  const maxTokens = asked.maxTokens ?? model.maxTokens;
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

/** What `reasoning_effort` makes of it. */
function guide(asked: ReasoningAsked, effort: string | undefined): Reasoning {
  const { model, adjusted, isToolForced } = asked;
  const maxTokens = asked.maxTokens ?? model.maxTokens;
  if (model.thinking === "adaptive") return guideAdaptive(asked, effort, maxTokens);
  if (effort === undefined || effort === "none") return { isOn: false, maxTokens };
  const budget = Math.max(minBudget, Math.floor(Math.min(maxTokens, maxBudget) * (lookUp(shares, effort) ?? 0)));
  const isPossible = model.thinking === "budget" && budget < maxTokens && !isToolForced && mayBeginThinking(asked);
  if (!isPossible) {
    adjusted.push("reasoning_effort");
    return { isOn: false, maxTokens };
  }
  return { thinking: { type: "enabled", budget_tokens: budget }, isOn: true, maxTokens };
}

function guideAdaptive(asked: ReasoningAsked, effort: string | undefined, maxTokens: number): Reasoning {
  const { model, adjusted, isToolForced } = asked;
  const isStopped = (effort === "none" || isToolForced) && model.canStopThinking;
  if (isStopped) {
    const thinking = model.thinksByDefault ? { thinking: { type: "disabled" } } : {};
    // Newer models refuse more than `high` of a model that may not think.
    const capped =
      effort === undefined || effort === "none" ? {} : effortOf(effort, model.efforts.slice(0, 3), adjusted);
    return { ...thinking, ...capped, isOn: false, maxTokens };
  }
  if (effort === undefined) return { isOn: model.thinksByDefault, maxTokens };
  if (effort === "none") adjusted.push("reasoning_effort");
  return { thinking: adaptive, ...effortOf(effort, model.efforts, adjusted), isOn: true, maxTokens };
}

const order = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/** The strongest of the model's efforts that is not above the one asked for, else its weakest. */
function effortOf(effort: string, efforts: readonly Effort[], adjusted: string[]): { effort?: Effort } {
  const found = efforts.findLast((one) => order.indexOf(one) <= order.indexOf(effort)) ?? efforts[0];
  if (found !== effort && effort !== "none" && effort !== "minimal") adjusted.push("reasoning_effort");
  return found ? { effort: found } : {};
}

/**
 * Whether a model with a budget may think on from here: an answer that is under way, with calls of tools, must have begun
 * with signed thinking, which clients that know nothing of it do not send back.
 */
function mayBeginThinking({ conversation }: ReasoningAsked): boolean {
  const last = conversation.turns.at(-1);
  const before = conversation.turns.at(-2);
  if (last?.role !== "user") return false;
  if (last.results.length === 0) return true;
  return before?.role === "assistant" && signedThinking(before.thinkingBlocks).length > 0;
}
