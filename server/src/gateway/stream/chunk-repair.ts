import { isObject } from "../../lib/json.ts";
import { gatewayLimits } from "../limits.ts";
import { isIndex, numberItems } from "./number-items.ts";
import { ToolCallRepair } from "./tool-call-repair.ts";

type Members = Record<string, unknown>;

type Choice = {
  hasRole: boolean;
  calls: ToolCallRepair;
  /** Number of items so far, by the name of the message's list. */
  counts: Map<string, number>;
};

/**
 * Brings the chunks of one stream into the form that OpenAI documents. Servers that imitate it omit an `index`, repeat
 * names and ids, send empty roles, or send the id of a call late; SDKs throw on such chunks or accumulate them wrongly.
 */
export class ChunkRepair {
  readonly #choices = new Map<number, Choice>();

  /** Returns the same object if nothing in it has to change. */
  repair(chunk: Members): Members {
    const { choices } = chunk;
    if (!Array.isArray(choices)) return { ...chunk, choices: [] };
    let repaired: unknown[] | undefined;
    for (let position = 0; position < choices.length; position += 1) {
      const item: unknown = choices[position];
      const better = isObject(item) ? this.#repairChoice(item, position) : undefined;
      if (better === item) continue;
      repaired ??= [...(choices as unknown[])];
      repaired[position] = better;
    }
    return repaired === undefined ? chunk : { ...chunk, choices: repaired.filter(isObject) };
  }

  #repairChoice(item: Members, position: number): Members {
    const index = isIndex(item["index"]) ? item["index"] : position;
    const choice = this.#choiceAt(index);
    if (choice === undefined) return item;
    const isFinish = typeof item["finish_reason"] === "string" && item["finish_reason"] !== "";
    const { message } = item;
    const given = isObject(item["delta"]) ? item["delta"] : isObject(message) ? message : {};
    const delta = repairDelta(given, choice, isFinish);
    if (delta === item["delta"] && index === item["index"]) return item;
    const { message: _message, ...rest } = item;
    return { ...rest, index, delta };
  }

  /** Undefined if there are too many. */
  #choiceAt(index: number): Choice | undefined {
    let choice = this.#choices.get(index);
    if (choice === undefined && this.#choices.size < gatewayLimits.recordedChoices) {
      choice = { hasRole: false, calls: new ToolCallRepair(), counts: new Map() };
      this.#choices.set(index, choice);
    }
    return choice;
  }
}

function repairDelta(delta: Members, choice: Choice, isFinish: boolean): Members {
  const changes: Members = {};
  const { role, tool_calls: calls } = delta;
  const isRole = typeof role === "string" && role !== "";
  if (!isRole && !choice.hasRole && role !== undefined) changes["role"] = "assistant";
  else if (role === "") changes["role"] = undefined;
  choice.hasRole ||= isRole || changes["role"] !== undefined;
  if (Array.isArray(calls) || (isFinish && choice.calls.isHolding)) {
    const repaired = choice.calls.repair(Array.isArray(calls) ? calls : [], isFinish);
    if (repaired !== calls) changes["tool_calls"] = repaired.length > 0 ? repaired : undefined;
  }
  for (const name in delta) {
    const value = delta[name];
    if (name === "tool_calls" || name === "content" || !Array.isArray(value)) continue;
    const numbered = numberItems(name, value, choice.counts);
    if (numbered !== value) changes[name] = numbered;
  }
  for (const _change in changes) return withoutUndefined({ ...delta, ...changes });
  return delta;
}

function withoutUndefined(members: Members): Members {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
