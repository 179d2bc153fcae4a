import { isObject } from "../../../lib/json.ts";

/** The usage of a chunk or of a complete response, if it has numbers; Groq also has it below `x_groq`. */
export function usageOf(holder: Record<string, unknown>): Record<string, unknown> | undefined {
  const own = holder["usage"];
  if (isObject(own) && Object.values(own).some((value) => typeof value === "number")) return own;
  const groq = holder["x_groq"];
  return isObject(groq) && isObject(groq["usage"]) ? groq["usage"] : undefined;
}

/**
 * OpenAI states the tier that served a call beside the usage; pricing expects it within the usage, as Anthropic has it.
 */
export function usageWithTier(
  usage: Record<string, unknown>,
  { service_tier }: Record<string, unknown>,
): Record<string, unknown> {
  return typeof service_tier === "string" && usage["service_tier"] === undefined ? { ...usage, service_tier } : usage;
}
