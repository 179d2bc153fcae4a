import { spanColumns, type SpanColumn } from "../../domain/span.ts";
import { isObject, parseJsonText } from "../../lib/json.ts";
import type { StoredSpan } from "../../storage/spans/span-store.ts";
import { placeOfField } from "../normalize/wire-fields.ts";
import type { SpanBody } from "./map-span.ts";

const counts = [
  "prompt_tokens",
  "completion_tokens",
  "total_tokens",
  "prompt_cache_hit_tokens",
  "prompt_cache_creation_tokens",
  "reasoning_tokens",
] as const;

/**
 * Converts a stored span to the body that would be stored as the same row, so that it can be completed and accepted
 * again.
 */
export function bodyOfRow(row: StoredSpan): SpanBody {
  const extra = objectIn(row.extra);
  const body: SpanBody = {
    timestamp: row.timestamp,
    start_time: row.start_time,
    status: row.status,
    status_code: row.status_code,
    metadata: { ...objectIn(row.metadata), ...objectIn(row.metadata_reserved) },
    usage_details: isObject(extra["usage_details"]) ? extra["usage_details"] : undefined,
  };
  for (const [field, place] of placeOfField) {
    const value = place === "extra" ? extra[field] : columnValue(row, field as SpanColumn);
    if (value !== undefined && value !== null && value !== "") body[field] = value;
  }
  for (const count of counts) if (row[count] !== null && row[count] !== undefined) body[count] = row[count];
  // Content that the sender omitted stays omitted.
  if (extra["is_log_omitted"] === true) body["disable_log"] = true;
  // A computed cost is computed again.
  if (row.cost_source === "stated") body["cost"] = row.cost;
  return body;
}

function columnValue(row: StoredSpan, column: SpanColumn): unknown {
  const value = row[column];
  return spanColumns[column] === "json" && typeof value === "string" ? jsonIn(value) : value;
}

function jsonIn(text: string): unknown {
  if (text === "") return undefined;
  const parsed = parseJsonText(text);
  return parsed.ok ? parsed.value : undefined;
}

function objectIn(text: string | undefined): Record<string, unknown> {
  const value = jsonIn(text ?? "");
  return isObject(value) ? value : {};
}
