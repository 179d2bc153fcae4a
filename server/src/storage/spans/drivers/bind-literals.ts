import type { StatementParams } from "../span-store.ts";

/**
 * Puts bound values into a statement for an engine that runs parametrised statements one at a time: chDB keeps
 * parameters in the process, so the driver of the package lets no two of them overlap, and one slow list would hold up all.
 *
 * A value becomes the hexadecimal digits of its bytes, decoded and cast by the engine as it casts a parameter. Nothing
 * but [0-9A-F] of it is ever part of the statement, so there is nothing to escape and nothing to escape from.
 */
export function bindLiterals(sql: string, params: StatementParams): string {
  return sql.replace(/\{(\w+):([^{}]+)\}/g, (_placeholder, name: string, type: string) => {
    const value = Object.hasOwn(params, name) ? params[name] : undefined;
    if (value === undefined) throw new Error(`the statement has no value for its parameter ${name}`);
    const text = hexLiteral(typeof value === "string" ? value : arrayText(value));
    return type.trim() === "String" ? text : `CAST(${text} AS ${type})`;
  });
}

function hexLiteral(text: string): string {
  return text === "" ? "''" : `unhex('${Buffer.from(text, "utf8").toString("hex").toUpperCase()}')`;
}

/** The text form of ClickHouse arrays: quoted, with backslashes before quotes and backslashes. */
function arrayText(values: readonly string[]): string {
  return `[${values.map((value) => `'${value.replace(/[\\']/g, "\\$&")}'`).join(",")}]`;
}
