import { isObject } from "../../../lib/json.ts";
import { refuse } from "../shared/refuse.ts";
import type { GeminiModel, ThinkingLevel } from "./models.ts";

/** The token budget of each effort, as in Google's OpenAI-compatible API. */
const budgets: Readonly<Record<string, number>> = {
  minimal: 1_024,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
  xhigh: 24_576,
  max: 24_576,
};

const order = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

type ThinkingConfig = Record<string, unknown>;

/**
 * Builds `thinkingConfig` from Google's own `extra_body.google.thinking_config`, from `thinking` in Anthropic's form,
 * or from `reasoning_effort`, which is reported as adjusted if it cannot be met fully. Thoughts are included if
 * thinking was requested.
 */
export function readThinking(
  members: Record<string, unknown>,
  model: GeminiModel,
  adjusted: string[],
): ThinkingConfig | undefined {
  const effort = members["reasoning_effort"];
  if (effort !== undefined && (typeof effort !== "string" || !order.includes(effort))) {
    return refuse("reasoning_effort", `must be one of ${order.join(", ")}`);
  }
  const own = ofGoogle(members)["thinking_config"];
  if (isObject(own)) return own;
  const { thinking } = members;
  if (thinking === undefined) return effort === undefined ? undefined : guided(effort, model, adjusted);
  if (!isObject(thinking)) return refuse("thinking", "must be an object");
  if (thinking["type"] === "disabled") return guided("none", model, adjusted);
  const budget = thinking["budget_tokens"];
  if (typeof budget !== "number")
    return effort === undefined ? { includeThoughts: true } : guided(effort, model, adjusted);
  return { thinkingBudget: budget, includeThoughts: true };
}

/** Members that clients of Google's OpenAI-compatible API send: `extra_body: {google: {…}}`. */
export function ofGoogle({ extra_body: extra }: Record<string, unknown>): Record<string, unknown> {
  const google = isObject(extra) ? extra["google"] : undefined;
  return isObject(google) ? google : {};
}

function guided(effort: string, model: GeminiModel, adjusted: string[]): ThinkingConfig | undefined {
  if (model.thinking === "none") {
    if (effort !== "none") adjusted.push("reasoning_effort");
    return undefined;
  }
  if (model.thinking === "budget") {
    if (effort !== "none") return { thinkingBudget: budgets[effort], includeThoughts: true };
    if (model.minBudget > 0) adjusted.push("reasoning_effort");
    return { thinkingBudget: model.minBudget };
  }
  const level = levelOf(effort, model.levels);
  if (effort !== level && !(effort === "xhigh" || effort === "max")) adjusted.push("reasoning_effort");
  return effort === "none" ? { thinkingLevel: level } : { thinkingLevel: level, includeThoughts: true };
}

/** The strongest level that is not above the effort, else the weakest. */
function levelOf(effort: string, levels: readonly ThinkingLevel[]): ThinkingLevel | undefined {
  return levels.findLast((level) => order.indexOf(level) <= order.indexOf(effort)) ?? levels[0];
}
