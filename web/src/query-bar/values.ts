import { canonicalValue, type QueryField } from "./fields.ts";

/** A value in the API's type. */
export type ApiValue = string | number | boolean;

const decimal = String.raw`[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?`;
const secondsOf: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600 };
const factors: Readonly<Record<string, number>> = { k: 1e3, m: 1e6 };

/** Converts a typed value to the API's type, or describes its problem. */
export function readValue(field: QueryField, text: string): { value: ApiValue } | { problem: string } {
  const { kind, word } = field;
  if (kind === "number") return readNumber(field, text);
  if (kind === "boolean") {
    const isBoolean = /^(true|false)$/i.test(text);
    return isBoolean ? { value: text.toLowerCase() === "true" } : { problem: `${word} is true or false` };
  }
  if (kind === "time") {
    const example = "2026-11-29 or 2026-11-29T10:00Z (UTC without a zone)";
    return isTime(text) ? { value: text } : { problem: `${word} needs a time such as ${example}` };
  }
  return { value: canonicalValue(field, text.toWellFormed().replaceAll("\0", "\uFFFD")) };
}

function readNumber({ unit, word }: QueryField, text: string): { value: number } | { problem: string } {
  const value = unit === "seconds" ? readSeconds(text) : unit === "usd" ? readUsd(text) : readCount(text, unit);
  if (value !== undefined && Number.isFinite(value)) return { value };
  const example = { seconds: "2s, 150ms or 1m", usd: "0.01", count: "1000 or 10k" }[unit ?? "count"];
  return { problem: `${word} needs a number${unit === undefined ? "" : ` such as ${example}`}` };
}

function readSeconds(text: string): number | undefined {
  const match = new RegExp(`^(${decimal})(ms|s|m|h)?$`, "i").exec(text);
  if (match === null) return undefined;
  const unit = match[2]?.toLowerCase() ?? "s";
  // Division by 1000 is exact, multiplication by 0.001 is not.
  return unit === "ms" ? Number(match[1]) / 1000 : Number(match[1]) * (secondsOf[unit] ?? 1);
}

function readUsd(text: string): number | undefined {
  const match = new RegExp(`^\\$?(${decimal})$`, "i").exec(text);
  return match === null ? undefined : Number(match[1]);
}

function readCount(text: string, unit: "count" | undefined): number | undefined {
  const match = new RegExp(`^(${decimal})(${unit === "count" ? "k|m" : "(?!)"})?$`, "i").exec(text);
  return match === null ? undefined : Number(match[1]) * (factors[match[2]?.toLowerCase() ?? ""] ?? 1);
}

const iso =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?(?:[Zz]|[+-](\d{2}):?(\d{2})?)?)?$/;

/** Times that the server accepts, in the years in which spans may exist. */
function isTime(text: string): boolean {
  const match = iso.exec(text);
  if (match === null) return false;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, offsetHour = 0, offsetMinute = 0] = match
    .slice(1)
    .map((part) => Number(part ?? 0));
  const isDay = month >= 1 && month <= 12 && day >= 1 && day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
  const isClock = hour <= 23 && minute <= 59 && second <= 59 && offsetHour <= 23 && offsetMinute <= 59;
  return year >= 1901 && year <= 2261 && isDay && isClock;
}

/** The query's form of an API value. */
export function showValue(field: QueryField, value: ApiValue): string {
  if (typeof value === "number" && field.unit === "seconds") return `${value}s`;
  return field.name === "status" && value === "failed" ? "error" : String(value);
}
