import { wholeBody } from "../../domain/errors.ts";
import { isObject } from "../../lib/json.ts";
import type { RefusedRow, RowOutcome } from "./accept.ts";

type Body = Record<string, unknown>;

/** The parts of a call's body that may be of any size. */
const content = ["prompt_messages", "completion_message", "completion_messages", "tools", "response_format"];

/** Adds a call's body as it is, else without what was refused, else without all that a span can lack. */
export function addReduced(body: Body, add: (body: Body) => RowOutcome): RowOutcome {
  const whole = add(body);
  if (whole.ok) return whole;
  const fitting = add(withoutRefused(body, whole));
  return fitting.ok ? fitting : add(bareCall(body, fitting));
}

/** A call's body without the fields that the intake refuses, and without content if it is too large or nests too deep. */
export function withoutRefused(body: Body, { errors, code }: Pick<RefusedRow, "errors" | "code">): Body {
  const fields = Object.keys(errors).filter((name) => name !== wholeBody);
  const leftOut = code === "payload_too_large" || wholeBody in errors ? [...fields, ...content] : fields;
  const retained = Object.fromEntries(Object.entries(body).filter(([name]) => !leftOut.includes(name)));
  const warnings = Array.isArray(retained["warnings"]) ? (retained["warnings"] as unknown[]) : [];
  if ("usage" in retained) retained["usage"] = boundedCounts(retained["usage"]);
  return { ...retained, warnings: [...warnings, `left out, because the store cannot hold it: ${leftOut.join(", ")}`] };
}

/** Fields that identify the call's customer and determine its cost. */
const bareFields = new Set([
  "customer_identifier",
  "cost",
  "cache_hit",
  "usage_is_estimated",
  "log_type",
  "model",
  "provider_id",
  "start_time",
  "timestamp",
  "latency",
  "status_code",
  "usage",
]);

/** The least of a call's body that is worth a span. */
export function bareCall(body: Body, { errors }: Pick<RefusedRow, "errors">): Body {
  const retained = Object.entries(body).filter(([name]) => bareFields.has(name) && !(name in errors));
  return Object.fromEntries(retained.map(([name, value]) => [name, name === "usage" ? boundedCounts(value) : value]));
}

const maxDepth = 4;
const maxValues = 500;
const maxChars = 100;

/**
 * A copy of an upstream's usage without values that nest too deep, are too long or too many for a span. The counts
 * stay: the call is billed by them.
 */
function boundedCounts(usage: unknown): unknown {
  let valuesLeft = maxValues;
  const copy = (value: unknown, depthLeft: number): unknown => {
    valuesLeft -= 1;
    if (valuesLeft < 0) return undefined;
    if (typeof value === "string") return value.length <= maxChars ? value : undefined;
    if (!Array.isArray(value) && !isObject(value)) return value;
    if (depthLeft === 0) return undefined;
    if (Array.isArray(value))
      return value.slice(0, maxValues).flatMap((item: unknown) => copy(item, depthLeft - 1) ?? []);
    // Plain counts come first, so that nested values cannot use up the limit.
    const members = Object.entries(value)
      .filter(([name]) => name.length <= maxChars)
      .toSorted(([, a], [, b]) => Number(typeof a === "object") - Number(typeof b === "object"));
    return Object.fromEntries(members.map(([name, member]) => [name, copy(member, depthLeft - 1)]));
  };
  return copy(usage, maxDepth);
}
