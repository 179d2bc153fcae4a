/** Search parameters are plain text in the URL, so a link stays readable. A name that occurs twice is a list. */

export type RawSearch = Record<string, string | string[]>;

export function parseSearch(text: string): RawSearch {
  const found: RawSearch = {};
  for (const [name, value] of new URLSearchParams(text)) {
    if (!Object.hasOwn(found, name)) found[name] = value;
    else found[name] = [found[name] ?? [], value].flat();
  }
  return found;
}

/** The inverse of `parseSearch`. Undefined, null and empty text are omitted. */
export function stringifySearch(search: Record<string, unknown>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    for (const each of [value].flat()) {
      if (each === undefined || each === null || each === "") continue;
      params.append(name, typeof each === "string" ? each : JSON.stringify(each));
    }
  }
  // Characters that a query may contain unescaped stay readable.
  const text = params.toString().replace(/%3A/g, ":").replace(/%2C/g, ",").replace(/%2F/g, "/").replace(/%40/g, "@");
  return text === "" ? "" : `?${text}`;
}

/** The text of one parameter; undefined if it is missing or a list. */
export function textOf(search: Record<string, unknown>, name: string): string | undefined {
  const value = search[name];
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function listOf(search: Record<string, unknown>, name: string): string[] | undefined {
  const value = [search[name] ?? []].flat().filter((each) => typeof each === "string" && each !== "") as string[];
  return value.length === 0 ? undefined : value;
}

/** The parameter if it is one of the choices. */
export function choiceOf<const T extends string>(
  search: Record<string, unknown>,
  name: string,
  choices: readonly T[],
): T | undefined {
  return choices.find((choice) => choice === search[name]);
}
