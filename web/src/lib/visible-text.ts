/**
 * Makes untrusted text visible. Control characters that would change the display of the text around them (direction
 * overrides, escape sequences, invisible tags) become symbols, and unpaired surrogates become U+FFFD.
 */
export function visibleText(text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed();
  if (!hidden.test(whole)) return whole;
  return whole.replace(ansiColour, "").replace(hiddenAll, symbolOf);
}

/** The same on one line, for names, ids and tooltips. */
export function visibleLine(text: string): string {
  return visibleText(text).replace(/\s*[\r\n\u2028\u2029]+\s*/g, " ↵ ");
}

// Escape sequences that set colours in a terminal are removed. Others stay visible, with a symbol instead of ESC.
// oxlint-disable-next-line no-control-regex
const ansiColour = /\u001B\[[\d;:]*m/g;

// C0 and C1 controls except tab and line breaks, embeddings, overrides and isolates, tags, invisible operators,
// interlinear marks.
const hiddenClass =
  "[\\0-\\u0008\\u000B\\u000C\\u000E-\\u001F\\u007F-\\u009F\\u202A-\\u202E\\u2061-\\u2064\\u2066-\\u2069\\uFFF9-\\uFFFB\\u{E0000}-\\u{E007F}]";
const hidden = new RegExp(hiddenClass, "u");
const hiddenAll = new RegExp(hiddenClass, "gu");

function symbolOf(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "␡";
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}
