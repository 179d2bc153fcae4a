/** How much longer indentation may make JSON: it grows with the square of the depth, to 32 MB for 4,000 nested lists. */
const growthMax = 4;
const freeChars = 100_000;

/** JSON with each member on its own line, or on one line if indentation would make it far longer. */
export function indentedJson(value: unknown): string {
  const json = JSON.stringify(value) ?? "";
  const isFar = indentation(json) > Math.max(freeChars, json.length * growthMax);
  return isFar || json === "" ? json : JSON.stringify(value, null, 2);
}

/** The characters of line breaks and indentation that JSON on one line would get. */
function indentation(json: string): number {
  let [depth, chars, isText] = [0, 0, false];
  for (let at = 0; at < json.length; at += 1) {
    const char = json[at];
    if (isText) {
      if (char === "\\") at += 1;
      else isText = char !== '"';
      continue;
    }
    if (char === '"') isText = true;
    else if (char === "[" || char === "{") depth += 1;
    else if (char === "]" || char === "}") depth -= 1;
    else if (char !== ",") continue;
    if (!isText) chars += 1 + 2 * depth;
  }
  return chars;
}
