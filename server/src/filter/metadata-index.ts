import { isObject } from "../lib/json.ts";
import { filterLimits } from "./limits.ts";
import { scalarText } from "./values.ts";

/** Joins the keys of a nested path, because `.` and `__` are ordinary characters of a key. */
export const pathSeparator = "\u001F";

/** The top-level key that a path of the index begins with. */
export const topKeyOf = (path: string): string => path.split(pathSeparator, 1)[0] ?? path;

/**
 * The text map that metadata is filtered by; ingest stores it, the in-memory interpreter reads it.
 *
 * - A top-level key stands as sent; a nested one as its path joined by U+001F.
 * - Scalars are their text: numbers their JSON digits, booleans `true` and `false`. Null is absent.
 * - Arrays and objects are their JSON text, if at most `metadataJsonChars`; elements of arrays have no entry of their own.
 * - Left out: top-level keys that start with `_` (reserved), keys that contain U+001F, paths over `metadataKeyChars`,
 *   levels below `metadataIndexDepth`, and what comes after `metadataKeys` entries, shallow ones first.
 */
export function indexMetadata(metadata: Record<string, unknown>): Record<string, string> {
  // Without a prototype, so that `__proto__` is a key like any other.
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

/** JSON text of a value, undefined when it is longer; gives up early, so a huge value costs no more than a long one. */
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
