import { isObject } from "../lib/json.ts";
import { filterLimits } from "./limits.ts";
import { scalarText } from "./values.ts";

/** Joins the keys of a nested path, because `.` and `__` are ordinary characters of a key. */
export const pathSeparator = "\u001F";

/** The top-level key of a path of the index. */
export const topKeyOf = (path: string): string => path.split(pathSeparator, 1)[0] ?? path;

/**
 * The text map by which metadata is filtered; ingest stores it, the in-memory interpreter reads it.
 *
 * - A top-level key is unchanged; a nested one is its path joined by U+001F.
 * - Scalars become text: numbers as their JSON digits, booleans as `true` and `false`. Null is absent.
 * - Arrays and objects become JSON text of at most `metadataJsonChars`; elements of arrays have no entry of their own.
 * - Left out: top-level keys that start with `_` (reserved), keys that contain U+001F, paths over `metadataKeyChars`,
 * levels below `metadataIndexDepth`, and entries after the first `metadataKeys`, shallow ones first.
 */
export function indexMetadata(metadata: Record<string, unknown>): Record<string, string> {
  // No prototype, so that `__proto__` is an ordinary key.
  const index = Object.create(null) as Record<string, string>;
  let entries = 0;
  let level: Array<readonly [prefix: string, object: Record<string, unknown>]> = [["", metadata]];
  for (let depth = 0; depth < filterLimits.metadataIndexDepth && level.length > 0; depth += 1) {
    const next: typeof level = [];
    for (const [prefix, object] of level) {
      for (const [key, value] of Object.entries(object)) {
        if (
          value === null ||
          value === undefined ||
          // JSON has no infinity: such a number is stored as null.
          (typeof value === "number" && !Number.isFinite(value)) ||
          key.includes(pathSeparator) ||
          (depth === 0 && key.startsWith("_"))
        )
          continue;
        const path = prefix + key;
        if (path.length > filterLimits.metadataKeyChars) continue;
        if (isObject(value)) next.push([path + pathSeparator, value]);
        const text = scalarText(value) ?? shortJson(value, filterLimits.metadataJsonChars);
        if (text === undefined) continue;
        if (entries >= filterLimits.metadataKeys) return index;
        index[path] = text;
        entries += 1;
      }
    }
    level = next;
  }
  return index;
}

/** JSON text of a value, undefined if it is longer; stops early, so that a huge value costs no more than a long one. */
function shortJson(root: unknown, maxChars: number): string | undefined {
  let text = "";
  const write = (value: unknown, depth: number): boolean => {
    if (depth > filterLimits.spanDepth || text.length > maxChars) return false;
    if (Array.isArray(value)) return writeMembers("[", value.entries(), "]", depth);
    if (isObject(value)) return writeMembers("{", Object.entries(value), "}", depth);
    if (typeof value === "string" && value.length > maxChars) return false;
    text += JSON.stringify(value) ?? "null";
    return text.length <= maxChars;
  };
  const writeMembers = (
    open: string,
    members: Iterable<[string | number, unknown]>,
    close: string,
    depth: number,
  ): boolean => {
    text += open;
    let first = true;
    for (const [key, value] of members) {
      if (!first) text += ",";
      first = false;
      if (typeof key === "string") text += `${JSON.stringify(key)}:`;
      if (!write(value, depth + 1)) return false;
    }
    text += close;
    return text.length <= maxChars;
  };
  return write(root, 1) ? text : undefined;
}
