/** The formats of all figures. An unknown value is shown as `unknown`, never as 0. */

export const unknown = "—";

type Known<T> = T | null | undefined;

const isUnknown = <T>(value: Known<T>): value is null | undefined =>
  value === null || value === undefined || (typeof value === "number" && !Number.isFinite(value));

const integers = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** All digits: `12,345,678`. */
export function formatInteger(value: Known<number>): string {
  return isUnknown(value) ? unknown : integers.format(value);
}

/** `1 span`, `2 spans`. */
export function formatNumberOf(count: number, noun: string): string {
  return `${formatInteger(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** With up to six decimals: `0.833333`, `1,234.5`. */
export function formatNumber(value: Known<number>): string {
  return isUnknown(value) ? unknown : value.toLocaleString("en-US", { maximumFractionDigits: 6 });
}

/** At most four characters and a unit: `999`, `1.23k`, `45.6M`. */
export function formatCount(value: Known<number>): string {
  if (isUnknown(value)) return unknown;
  const size = Math.abs(value);
  if (size < 1000) return Number.isInteger(value) ? String(value) : trimmed(value, 3);
  const units = ["k", "M", "G", "T"];
  let scaled = value;
  let unit = "";
  for (const next of units) {
    if (Math.abs(Number(scaled.toPrecision(3))) < 1000) break;
    scaled /= 1000;
    unit = next;
  }
  return `${trimmed(scaled, 3)}${unit}`;
}

function trimmed(value: number, digits: number): string {
  return String(Number(value.toPrecision(digits)));
}

/** US dollars, as precise as the size allows: `$1,234.50`, `$0.0123`, `$0.0000042`. */
export function formatCost(value: Known<number>): string {
  if (isUnknown(value)) return unknown;
  if (value === 0) return "$0";
  const size = Math.abs(value);
  const sign = value < 0 ? "-" : "";
  if (size >= 1e6) return `${sign}$${formatCount(size)}`;
  if (size >= 1) {
    return `${sign}$${size.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
  }
  const decimals = Math.min(12, Math.max(4, 2 - Math.floor(Math.log10(size))));
  const text = size.toFixed(decimals).replace(/(\.\d\d\d*?)0+$/, "$1");
  return Number(text) === 0 ? `${sign}<$0.000000000001` : `${sign}$${text}`;
}

/** US dollars with every stored digit; for tooltips. */
export function formatExactCost(value: Known<number>): string {
  if (isUnknown(value)) return unknown;
  return `$${value.toLocaleString("en-US", { maximumFractionDigits: 12 })}`;
}

/**
 * All digits without an exponent, for files that other programs read: `0.00000036`, never `3.6e-7`. Empty if unknown.
 */
export function plainDecimal(value: Known<number>): string {
  if (isUnknown(value)) return "";
  const text = String(value);
  const [, sign = "", whole = "", fraction = "", exponent] = /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(text) ?? [];
  if (exponent === undefined) return text;
  const places = Number(exponent);
  const digits = `${whole}${fraction}`;
  if (places < 0) return `${sign}0.${"0".repeat(-places - 1)}${digits}`;
  return `${sign}${digits.padEnd(whole.length + places, "0")}`;
}

/** Formats seconds: `340 µs`, `12 ms`, `1.23 s`, `2 min 5 s`, `3 h 4 min`, `2 d 3 h`. */
export function formatDuration(seconds: Known<number>): string {
  if (isUnknown(seconds)) return unknown;
  if (seconds < 0) return `-${formatDuration(-seconds)}`;
  if (seconds === 0) return "0 s";
  if (seconds < 0.0009995) return `${trimmed(seconds * 1e6, 3)} µs`;
  if (seconds < 0.9995) return `${trimmed(seconds * 1000, 3)} ms`;
  if (seconds < 59.95) return `${trimmed(seconds, 3)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return pair(whole, 60, "min", 1, "s");
  if (whole < 86_400) return pair(whole, 3600, "h", 60, "min");
  // Hours mean nothing beside hundreds of days, and columns have no room for them.
  return whole < 100 * 86_400 ? pair(whole, 86_400, "d", 3600, "h") : `${formatInteger(Math.round(whole / 86_400))} d`;
}

function pair(seconds: number, large: number, largeUnit: string, small: number, smallUnit: string): string {
  const rest = Math.floor((seconds % large) / small);
  const first = `${formatInteger(Math.floor(seconds / large))} ${largeUnit}`;
  return rest === 0 ? first : `${first} ${rest} ${smallUnit}`;
}

/** `512 B`, `1.50 KB`, `3.2 MB`; a KB has 1,024 bytes. */
export function formatBytes(bytes: Known<number>): string {
  if (isUnknown(bytes)) return unknown;
  let scaled = bytes;
  for (const unit of ["B", "KB", "MB", "GB", "TB"]) {
    if (Math.abs(Number(scaled.toPrecision(3))) < 1024 || unit === "TB") return `${trimmed(scaled, 3)} ${unit}`;
    scaled /= 1024;
  }
  return unknown;
}

/** Formats a share from 0 to 1: `12.3%`. A nonzero share is never shown as 0. */
export function formatShare(share: Known<number>): string {
  return isUnknown(share) ? unknown : formatPercent(share * 100);
}

/** Formats a percentage from 0 to 100: `12.3%`, `<0.1%`. */
export function formatPercent(percent: Known<number>): string {
  if (isUnknown(percent)) return unknown;
  if (percent > 0 && percent < 0.1) return "<0.1%";
  if (percent < 100 && percent > 99.9) return ">99.9%";
  return `${trimmed(percent, 3)}%`;
}
