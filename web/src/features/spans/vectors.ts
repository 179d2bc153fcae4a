import { isRecord } from "../../lib/exact-json.ts";

/** The vectors of an embedding: one, a list of them, or a provider's response with `data[].embedding`. */
export function vectorsIn(value: unknown): unknown[][] {
  if (isRecord(value)) return vectorsIn(value["data"] ?? value["embedding"] ?? value["embeddings"]);
  if (!Array.isArray(value) || value.length === 0) return [];
  const list = value as unknown[];
  if (typeof list[0] === "number") return [list];
  return list.flatMap(vectorsIn);
}
