import type { StatementParams } from "../span-store.ts";

/**
 * Writes bound values into a statement, for an engine that runs parametrised statements one at a time: chDB keeps
 * parameters in the process, so its driver never overlaps two such statements, and one slow list would block all.
 *
 * A value becomes the hexadecimal digits of its bytes, which the engine decodes and casts as it casts a parameter. Only
 * [0-9A-F] of it gets into the statement, so nothing has to be escaped.
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

/** The text form of ClickHouse arrays: quoted, with a backslash before quotes and backslashes. */
function arrayText(values: readonly string[]): string {
  return `[${values.map((value) => `'${value.replace(/[\\']/g, "\\$&")}'`).join(",")}]`;
}
