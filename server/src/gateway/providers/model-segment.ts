import { percentEncode } from "../../lib/percent-encode.ts";
import { refuse } from "./shared/refuse.ts";

/**
 * A model's name as one segment of a path.
 * @throws ServiceError for `.` and `..`, which lead elsewhere however they are encoded
 */
export function modelSegment(model: string): string {
  return model === "." || model === ".." ? refuse("model", "is not a model name") : percentEncode(model);
}
