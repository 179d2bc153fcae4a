import type { SpanDatabase, Statement } from "../drivers/span-database.ts";
import type { ExportFormat, WriteBytes } from "../span-export.ts";

/**
 * A column of an export, over the columns of a statement. The engine writes all formats, so the form of a value in each
 * is defined here only.
 *
 * Kinds: `text` ('' = absent), `json` (JSON text, '' = absent), `time` (DateTime64(9)), `integer`, `number`, `money`
 * (USD), `boolean` (null = absent).
 */
export type ExportColumn = {
  kind: "text" | "json" | "time" | "integer" | "number" | "money" | "boolean";
  sql: string;
  /** The JSON of an absent value. Default `null`. */
  absent?: string;
};

export type ExportColumns = Readonly<Record<string, ExportColumn>>;

/**
 * Writes a file with a row for each row of `from`, in no order.
 * @param shape `names` are some of `columns`, in the order of the file
 */
export async function exportRows(
  database: SpanDatabase,
  { from, ...statement }: Omit<Statement, "sql"> & { from: string },
  shape: { format: ExportFormat; columns: ExportColumns; names: readonly string[] },
  take: WriteBytes,
  signal: AbortSignal,
): Promise<void> {
  const { format, names } = shape;
  const columns = names.map((name) => [name, columnOf(shape.columns, name)] as const);
  const sql = `SELECT ${format === "jsonl" ? jsonRow(columns) : cells(format, columns)} FROM ${from}`;
  let head = format === "csv" ? `${names.map((name) => `"${name}"`).join(",")}\r\n` : "";
  const takeHead = async (): Promise<void> => {
    if (head !== "") await take(Buffer.from(head));
    head = "";
  };
  const named = { ...statement, sql: format === "parquet" ? nameCells(names, sql) : sql };
  await database.stream(
    named,
    format,
    async (bytes) => {
      // Only before the first rows: until then an error can still be reported.
      await takeHead();
      await take(bytes);
    },
    signal,
  );
  await takeHead();
}

function columnOf(columns: ExportColumns, name: string): ExportColumn {
  const column = Object.hasOwn(columns, name) ? columns[name] : undefined;
  if (column === undefined) throw new Error(`there is no column ${name} to export`);
  return column;
}

function cells(format: "csv" | "parquet", columns: ReadonlyArray<readonly [string, ExportColumn]>): string {
  return columns.map(([, column], index) => `${cell[format](column)} AS cell_${index}`).join(", ");
}

/** Names the columns of the file. In an outer statement: inside, the names would hide the statement's own columns. */
function nameCells(names: readonly string[], sql: string): string {
  return `SELECT ${names.map((name, index) => `cell_${index} AS \`${name}\``).join(", ")} FROM (${sql})`;
}

function jsonRow(columns: ReadonlyArray<readonly [string, ExportColumn]>): string {
  const members = columns.map(
    ([name, column], index) => `'${index === 0 ? "{" : ","}"${name}":', ${jsonValue(column)}`,
  );
  return `concat(${members.join(", ")}, '}') AS line`;
}

const isoTime = (time: string): string => {
  const text = `toString(${time})`;
  // At least milliseconds, without further trailing zeros.
  return `concat(replaceOne(substring(${text}, 1, 23), ' ', 'T'), replaceRegexpOne(substring(${text}, 24), '0+$', ''), 'Z')`;
};

function jsonValue({ kind, sql, absent = "null" }: ExportColumn): string {
  if (kind === "text") return `if(${sql} = '', '${absent}', toJSONString(toString(${sql})))`;
  // JSON that was sent as text may have line breaks between its values, but a row must be one line.
  if (kind === "json") return `if(${sql} = '', '${absent}', replaceAll(${sql}, '\\n', ' '))`;
  if (kind === "time") return `concat('"', ${isoTime(sql)}, '"')`;
  return `ifNull(toString(${sql}), '${absent}')`;
}

/** Whether spreadsheets read a text as a formula, also in full-width forms. A quote before it makes it text. */
const isFormula = (text: string): string =>
  `(substring(${text}, 1, 1) IN ('=', '+', '-', '@', '\\t', '\\r', '\\n') OR substring(${text}, 1, 3) IN ('＝', '＋', '－', '＠'))`;

/**
 * Spreadsheets show `3.6e-7` as text or as 0. A decimal that is read from text has exactly the digits of the number. A
 * number beyond the decimal's range or places stays as it is.
 */
function plainDecimal(sql: string): string {
  const decimal = `toDecimal256OrNull(toString(${sql}), 30)`;
  const as = (value: string): string => `CAST(${value} AS Variant(Decimal256(30), Float64))`;
  return `if(toFloat64OrNull(toString(${decimal})) = ${sql}, ${as(decimal)}, ${as(sql)})`;
}

const cell: Record<"csv" | "parquet", (column: ExportColumn) => string> = {
  csv({ kind, sql }) {
    if (kind === "text") return `nullIf(if(${isFormula(sql)}, concat('\\'', ${sql}), ${sql}), '')`;
    // JSON never begins like a formula, except for the minus of a number.
    if (kind === "json") return `nullIf(${sql}, '')`;
    if (kind === "money") return plainDecimal(sql);
    return kind === "time" ? isoTime(sql) : sql;
  },
  parquet: ({ kind, sql }) => (kind === "text" || kind === "json" ? `nullIf(toString(${sql}), '')` : sql),
};
