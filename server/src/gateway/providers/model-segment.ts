import { percentEncode } from "../../lib/percent-encode.ts";
import { refuse } from "./shared/refuse.ts";

/**
 * Encodes a model's name as one path segment.
 * @throws ServiceError for `.` and `..`, which change the path however they are encoded
 */
export function modelSegment(model: string): string {
  return model === "." || model === ".." ? refuse("model", "is not a model name") : percentEncode(model);
}
