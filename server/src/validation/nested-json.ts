import { countJsonNodes } from "../lib/json-text.ts";
import { countNodes, parseJsonText } from "../lib/json.ts";
import { domainLimits } from "../domain/limits.ts";
import { filterLimits } from "../filter/limits.ts";
import { Problem } from "./field-readers.ts";

/** Reads objects and lists sent as JSON text within JSON, as OpenTelemetry attributes carry them. */
export type NestedJson = {
  /** Returns the parsed tree; the text itself if it is not a tree; a `Problem` if it is too large. */
  read(text: string): unknown;
};

/**
 * `maxNodes` bounds the keys and values of all texts together: the request's own bound does not cover the content of
 * strings.
 */
export function createNestedJson(maxNodes: number): NestedJson {
  let nodesLeft = maxNodes;
  return {
    read(text) {
      const first = text.trimStart().charAt(0);
      if (first !== "{" && first !== "[") return text;
      // A text has no more keys and values than characters. Counting a parsed tree is cheaper than counting text.
      if (text.length > nodesLeft && countJsonNodes(Buffer.from(text), nodesLeft) > nodesLeft)
        return new Problem(`must not bring a request over ${maxNodes} keys and values`);
      const parsed = parseJsonText(text);
      const nodes = parsed.ok ? countNodes(parsed.value, filterLimits.spanDepth, domainLimits.spanNodes) : undefined;
      nodesLeft -= typeof nodes === "number" ? nodes : countJsonNodes(Buffer.from(text), nodesLeft);
      if (!parsed.ok) return text;
      if (nodes === "depth") return new Problem(`must not nest deeper than ${filterLimits.spanDepth} levels`);
      if (nodes === "nodes") return new Problem(`must not hold more than ${domainLimits.spanNodes} values`);
      return parsed.value;
    },
  };
}
