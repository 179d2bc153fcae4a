import { ServiceError } from "../../domain/errors.ts";
import { isServiceParam, memberOfText } from "../request/service-params.ts";

/**
 * Builds the members from the fields of a form: `metadata[a][b]` is nested, `name[]` and repeated names are lists, and
 * a service parameter that is not text may be JSON.
 * @throws ServiceError `invalid_request` for names that contradict each other
 */
export function membersOf(fields: ReadonlyArray<readonly [name: string, text: string]>): Record<string, unknown> {
  const members = createMap();
  for (const [name, text] of fields) {
    const [head, ...path] = splitName(name);
    if (path.length === 0) put(members, head, isServiceParam(head) ? memberOfText(head, text) : text, name);
    else putAt(members, [head, ...path], text, name);
  }
  return members;
}

const maxDepth = 8;

/** `a[b][]` → `a`, `b`, ``; a name of another form stays whole. */
function splitName(name: string): [string, ...string[]] {
  const match = /^([^[\]]+)((?:\[[^[\]]*\])+)$/.exec(name);
  if (!match) return [name];
  const path = (match[2] ?? "").slice(1, -1).split("][");
  if (path.length > maxDepth) throw clash(name, `must not nest deeper than ${maxDepth} levels`);
  return [match[1] ?? "", ...path];
}

function putAt(members: Record<string, unknown>, path: readonly string[], text: string, name: string): void {
  let holder = members;
  for (const [i, key] of path.slice(0, -1).entries()) {
    const isList = i === path.length - 2 && path.at(-1) === "";
    if (isList) return put(holder, key, [...listOf(holder[key], name), text], name, true);
    const inner = (holder[key] ??= createMap());
    if (typeof inner !== "object" || inner === null || Array.isArray(inner))
      throw clash(name, "has conflicting values");
    holder = inner as Record<string, unknown>;
  }
  return put(holder, path.at(-1) ?? "", text, name);
}

/** Without a prototype: names come from the caller and may include `__proto__`. */
function createMap(): Record<string, unknown> {
  return Object.create(null) as Record<string, unknown>;
}

function put(holder: Record<string, unknown>, key: string, value: unknown, name: string, replaces = false): void {
  const before = holder[key];
  if (before === undefined || replaces) holder[key] = value;
  else if (typeof value === "string") holder[key] = [...listOf(before, name), value];
  else throw clash(name, "is sent twice");
}

function listOf(value: unknown, name: string): unknown[] {
  if (value === undefined) return [];
  if (Array.isArray(value)) return value as unknown[];
  if (typeof value === "string") return [value];
  throw clash(name, "has conflicting values");
}

function clash(name: string, message: string): ServiceError {
  return new ServiceError("invalid_request", `${name} ${message}.`, { errors: { [name]: [message] } });
}
