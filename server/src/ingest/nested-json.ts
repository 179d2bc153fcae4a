import { countJsonNodes } from "../lib/json-text.ts";
import { exceedsShape, parseJsonText } from "../lib/json.ts";
import { limits } from "../limits.ts";
import { Problem } from "./field-readers.ts";

/** Objects and lists that were sent as JSON text within JSON, as OpenTelemetry attributes carry them. */
export type NestedJson = {
  /** The tree; the text itself where it is none; a `Problem` where it is too large. */
  read(text: string): unknown;
};

/** `maxNodes` bounds the keys and values of all texts together: the request's own bound does not see into strings. */
export function createNestedJson(maxNodes: number): NestedJson {
  let nodesLeft = maxNodes;
  return {
    read(text) {
      const first = text.trimStart().charAt(0);
      if (first !== "{" && first !== "[") return text;
      const nodes = countJsonNodes(Buffer.from(text), nodesLeft);
      if (nodes > nodesLeft) return new Problem(`must not bring a request over ${maxNodes} keys and values`);
      nodesLeft -= nodes;
      const parsed = parseJsonText(text);
      if (!parsed.ok) return text;
      const shape = exceedsShape(parsed.value, limits.spanDepth, limits.spanNodes);
      if (shape === "depth") return new Problem(`must not nest deeper than ${limits.spanDepth} levels`);
      if (shape === "nodes") return new Problem(`must not hold more than ${limits.spanNodes} values`);
      return parsed.value;
    },
  };
}
