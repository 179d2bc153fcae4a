import { wholeBody, type FieldErrors } from "../../domain/errors.ts";
import { paramsFields } from "../../domain/product-families.ts";
import { exceedsShape, isObject } from "../../lib/json.ts";
import { domainLimits } from "../../domain/limits.ts";
import { filterLimits } from "../../filter/limits.ts";
import { httpLimits } from "../../http/limits.ts";
import { list, object, Problem, type NestedJson } from "../../validation/field-readers.ts";
import { silentMembers, wireFields, type DerivedValues, type PlainValues } from "./wire-fields.ts";

export type BodyValues = PlainValues & DerivedValues;
/** `unknown`: some of the members that are not known here; absent if there are none. */
export type ReadBody =
  | { ok: true; values: BodyValues; unknown?: readonly string[] | undefined }
  | { ok: false; errors: FieldErrors };

/**
 * Reads one span body: known fields by their readers, aliases onto their own names, service parameters
 * (`svc_params` and its legacy names) merged below the body's own fields. `null` counts as absent.
 */
export function readBody(body: unknown, nested: NestedJson): ReadBody {
  if (!isObject(body)) return failed(wholeBody, "must be a JSON object");
  const shape = exceedsShape(body, filterLimits.spanDepth, domainLimits.spanNodes);
  if (shape === "depth") return failed(wholeBody, `must not nest deeper than ${filterLimits.spanDepth} levels`);
  if (shape === "nodes") return failed(wholeBody, `must not hold more than ${domainLimits.spanNodes} values`);
  const errors: FieldErrors = {};
  const own: Reading = { path: "", errors, nested };
  const values = readFields(body, own);
  for (const field of paramsFields) {
    const params = body[field];
    if (params === undefined || params === null) continue;
    if (!isObject(params)) return failed(field, "must be an object");
    for (const [key, value] of Object.entries(readFields(params, { path: `${field}.`, errors, nested })))
      values[key] ??= value;
  }
  if (Object.keys(errors).length > 0) return { ok: false, errors };
  return { ok: true, values: typedByReaders(values), unknown: own.unknown };
}

type Reading = { path: string; errors: FieldErrors; nested: NestedJson; unknown?: string[] };

function readFields(source: Record<string, unknown>, reading: Reading): Record<string, unknown> {
  const { path, errors, nested } = reading;
  const values: Record<string, unknown> = {};
  let fromAlias: Set<string> | undefined;
  for (const key of Object.keys(source)) {
    const place = wireFields.get(key);
    const raw = source[key];
    if (raw === null || raw === undefined) continue;
    if (!place) {
      noteUnknown(reading, key);
      continue;
    }
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

function noteUnknown(reading: Reading, key: string): void {
  if (silentMembers.has(key) || (reading.unknown?.length ?? 0) >= httpLimits.unknownMembersNamed) return;
  (reading.unknown ??= []).push(key.slice(0, domainLimits.identifierChars));
}

function failed(field: string, message: string): ReadBody {
  return { ok: false, errors: { [field]: [message] } };
}

/** Safe because each member was read by the reader that its type is inferred from. */
function typedByReaders(values: Record<string, unknown>): BodyValues {
  return values;
}
