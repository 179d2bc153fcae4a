/**
 * Rewrites JSON text as Python's `json.dumps` writes what `json.loads` reads from it, so that a receiver that parses a body
 * and serialises it again has the same bytes: `", "` and `": "` between members, everything but printable ASCII as `\uXXXX`,
 * floats as `repr` has them, integers with all their digits. Numbers beyond a double become null.
 *
 * The text must be JSON. Linear in its length.
 */
export function pythonJson(json: string): string {
  const token = /["\-\d,:\s]/g;
  let out = "";
  let copied = 0;
  for (let match = token.exec(json); match !== null; match = token.exec(json)) {
    const at = match.index;
    const end = tokenEnd(json, at);
    out += json.slice(copied, at) + rewrite(json.slice(at, end));
    copied = token.lastIndex = end;
  }
  return out + json.slice(copied);
}

const quote = 0x22;

function tokenEnd(json: string, at: number): number {
  if (json.charCodeAt(at) === quote) return closingQuote(json, at + 1) + 1;
  const number = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
  number.lastIndex = at;
  return number.test(json) ? number.lastIndex : at + 1;
}

function rewrite(token: string): string {
  if (token.startsWith('"')) return pythonString(token);
  if (token === ",") return ", ";
  if (token === ":") return ": ";
  return token.trim() === "" ? "" : pythonNumber(token);
}

const shortEscapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  "\\": "\\\\",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\f": "\\f",
  "\b": "\\b",
};

function pythonString(token: string): string {
  // Most strings have no escapes but those that Python writes alike.
  const escaped = /\\[u/]/.test(token) ? token.replaceAll(/\\(?:u[\da-fA-F]{4}|.)/g, pythonEscape) : token;
  return /[^ -~]/.test(escaped) ? escaped.replaceAll(/[^ -~]/g, unicodeEscape) : escaped;
}

function pythonEscape(escape: string): string {
  if (escape === "\\/") return "/";
  if (escape.length < 6) return escape;
  const unit = String.fromCharCode(Number.parseInt(escape.slice(2), 16));
  return shortEscapes[unit] ?? (unit >= " " && unit <= "~" ? unit : unicodeEscape(unit));
}

/** Each half of a surrogate pair is written by itself. */
function unicodeEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function pythonNumber(token: string): string {
  if (/^-?\d+$/.test(token)) return token === "-0" ? "0" : token;
  const value = Number(token);
  return Number.isFinite(value) ? pythonFloat(value) : "null";
}

/** `repr` of a float: the shortest digits that give it back, in positional notation from 1e-4 to below 1e16. */
function pythonFloat(value: number): string {
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  const [mantissa = "", power = "0"] = Math.abs(value).toExponential().split("e");
  const exponent = Number(power);
  const digits = mantissa.replace(".", "");
  const sign = value < 0 ? "-" : "";
  if (exponent < -4 || exponent >= 16) {
    const magnitude = String(Math.abs(exponent)).padStart(2, "0");
    return `${sign}${mantissa}e${exponent < 0 ? "-" : "+"}${magnitude}`;
  }
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  return `${sign}${whole}.${digits.slice(exponent + 1) || "0"}`;
}

/** Where the string whose inside begins at `from` is closed. */
function closingQuote(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at !== -1; at = text.indexOf('"', at + 1)) {
    let escapes = 0;
    while (text.charCodeAt(at - 1 - escapes) === 0x5c) escapes += 1;
    if (escapes % 2 === 0) return at;
  }
  return text.length;
}
