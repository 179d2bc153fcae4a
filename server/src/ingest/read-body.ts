import { wholeBody, type FieldErrors } from "../domain/errors.ts";
import { paramsFields } from "../domain/product-families.ts";
import { exceedsShape, isObject } from "../lib/json.ts";
import { limits } from "../limits.ts";
import { list, object, Problem } from "./field-readers.ts";
import type { NestedJson } from "./nested-json.ts";
import { wireFields, type DerivedValues, type PlainValues } from "./wire-fields.ts";

export type BodyValues = PlainValues & DerivedValues;
export type ReadBody = { ok: true; values: BodyValues } | { ok: false; errors: FieldErrors };

/**
 * Reads one span body: known fields by their readers, aliases onto their own names, service parameters
 * (`svc_params` and its legacy names) merged below the body's own fields. `null` counts as absent.
 */
export function readBody(body: unknown, nested: NestedJson): ReadBody {
  if (!isObject(body)) return failed(wholeBody, "must be a JSON object");
  const shape = exceedsShape(body, limits.spanDepth, limits.spanNodes);
  if (shape === "depth") return failed(wholeBody, `must not nest deeper than ${limits.spanDepth} levels`);
  if (shape === "nodes") return failed(wholeBody, `must not hold more than ${limits.spanNodes} values`);

  const errors: FieldErrors = {};
  const values = readFields(body, { path: "", errors, nested });
  for (const field of paramsFields) {
    const params = body[field];
    if (params === undefined || params === null) continue;
    if (!isObject(params)) return failed(field, "must be an object");
    for (const [key, value] of Object.entries(readFields(params, { path: `${field}.`, errors, nested })))
      values[key] ??= value;
  }
  if (Object.keys(errors).length > 0) return { ok: false, errors };
  return { ok: true, values: typedByReaders(values) };
}

function readFields(
  source: Record<string, unknown>,
  { path, errors, nested }: { path: string; errors: FieldErrors; nested: NestedJson },
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  let fromAlias: Set<string> | undefined;
  for (const key of Object.keys(source)) {
    const place = wireFields.get(key);
    const raw = source[key];
    if (!place || raw === null || raw === undefined) continue;
    const { field } = place;
    if (values[field] !== undefined && (place.isAlias || !fromAlias?.has(field))) continue;
    const isTree = place.reader === object || place.reader === list;
    const given = isTree && typeof raw === "string" ? nested.read(raw) : raw;
    const value = given instanceof Problem ? given : place.reader(given);
    if (value instanceof Problem) errors[path + key] = [value.message];
    else if (value !== undefined) {
      values[field] = value;
      if (place.isAlias) (fromAlias ??= new Set()).add(field);
    }
  }
  return values;
}

function failed(field: string, message: string): ReadBody {
  return { ok: false, errors: { [field]: [message] } };
}

/** Safe because each member was filled by the reader that its type is made of. */
function typedByReaders(values: Record<string, unknown>): BodyValues {
  return values;
}
