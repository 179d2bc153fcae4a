/**
 * Rewrites JSON text as Python's `json.dumps` writes the result of `json.loads`, so that a receiver that parses a body
 * and serializes it again gets the same bytes: `", "` and `": "` between members, everything except printable ASCII as
 * `\uXXXX`, floats as `repr` writes them, integers with all their digits. Numbers that a double cannot hold become
 * null.
 *
 * The text must be JSON. Linear in its length.
 */
export function pythonJson(json: string): string {
  let out = "";
  let copied = 0;
  // Unchanged text is copied in runs; `written` replaces the text between them.
  const replace = (from: number, to: number, written: string): void => {
    out += json.slice(copied, from) + written;
    copied = to;
  };
  for (let at = 0; at < json.length;) {
    const code = json.charCodeAt(at);
    if (code === quote) {
      const { end, isPlain } = stringAt(json, at);
      if (!isPlain) replace(at, end, pythonString(json.slice(at, end)));
      at = end;
    } else if (code === comma || code === colon) {
      at += 1;
      replace(at, at, " ");
    } else if (code === minus || (code >= zero && code <= nine)) {
      const end = numberEnd(json, at);
      const number = json.slice(at, end);
      const written = pythonNumber(number);
      if (written !== number) replace(at, end, written);
      at = end;
    } else {
      at += 1;
      if (code <= space) replace(at - 1, at, "");
    }
  }
  return out + json.slice(copied);
}

const codeOf = (character: string): number => character.charCodeAt(0);
const quote = codeOf('"');
const comma = codeOf(",");
const colon = codeOf(":");
const minus = codeOf("-");
const zero = codeOf("0");
const nine = codeOf("9");
const space = codeOf(" ");
const backslash = codeOf("\\");
const slash = codeOf("/");
const lowerU = codeOf("u");
const tilde = codeOf("~");

/**
 * Returns where the string that begins here ends, and whether Python writes it unchanged. A hand-written loop: strings
 * are most of a payload.
 */
function stringAt(json: string, begin: number): { end: number; isPlain: boolean } {
  let isPlain = true;
  for (let at = begin + 1; ; at += 1) {
    const code = json.charCodeAt(at);
    if (code === quote || Number.isNaN(code)) return { end: at + 1, isPlain };
    if (code > tilde) isPlain = false;
    else if (code === backslash) {
      at += 1;
      const escaped = json.charCodeAt(at);
      if (escaped === lowerU || escaped === slash) isPlain = false;
    }
  }
}

function numberEnd(json: string, begin: number): number {
  const number = /[-+.\deE]+/y;
  number.lastIndex = begin;
  return number.test(json) ? number.lastIndex : begin + 1;
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
  const escaped = /\\[u/]/.test(token) ? token.replaceAll(/\\(?:u[\da-fA-F]{4}|.)/g, pythonEscape) : token;
  return /[^ -~]/.test(escaped) ? escaped.replaceAll(/[^ -~]/g, unicodeEscape) : escaped;
}

function pythonEscape(escape: string): string {
  if (escape === "\\/") return "/";
  if (escape.length < 6) return escape;
  const unit = String.fromCharCode(Number.parseInt(escape.slice(2), 16));
  return shortEscapes[unit] ?? (unit >= " " && unit <= "~" ? unit : unicodeEscape(unit));
}

/** Each half of a surrogate pair is escaped separately. */
function unicodeEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function pythonNumber(token: string): string {
  if (/^-?\d+$/.test(token)) return token === "-0" ? "0" : token;
  const value = Number(token);
  return Number.isFinite(value) ? pythonFloat(value) : "null";
}

/** `repr` of a float: the shortest digits that parse back to it, in positional notation from 1e-4 to below 1e16. */
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
