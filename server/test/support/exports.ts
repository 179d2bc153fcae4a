import { execFile } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { ExportFormat } from "../../src/storage/spans/span-export.ts";
import { always } from "./spans.ts";
import type { Row, TestClient } from "./test-client.ts";

/** An export of all time. Throws the server's response if it is refused. */
export async function exportRows(client: TestClient, path: string, filters: unknown = {}, query = ""): Promise<Row[]> {
  const answer = await client.post(`${path}?${always}&${query}`, { filters });
  if (answer.status !== 200) throw new Error(`export answered ${answer.status}: ${answer.text}`);
  return readLines(answer.text);
}

export function readLines(text: string): Row[] {
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Row);
}

/** Parses by RFC 4180, like a strict reader. */
export function readCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (let at = 0; at < text.length;) {
    const end =
      text[at] === '"' ? endOfQuoted(text, at) : at + (/[",\r\n]/.exec(text.slice(at, at + 1_000))?.index ?? 1_000);
    const cell = text.slice(at, end);
    row.push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell);
    at = end + 1;
    if (text[end] === ",") continue;
    if (!text.startsWith("\r\n", end)) throw new Error(`neither a comma nor a line end at ${end}`);
    rows.push(row);
    row = [];
    at = end + 2;
  }
  if (row.length > 0) throw new Error("the last line has no end");
  return rows;
}

function endOfQuoted(text: string, start: number): number {
  for (let at = start + 1; ; at += 2) {
    at = text.indexOf('"', at);
    if (at === -1) throw new Error(`the cell at ${start} has no end`);
    if (text[at + 1] !== '"') return at + 1;
  }
}

/** The rows of a file; cells of CSV are texts. */
export async function readExport(format: ExportFormat, file: Uint8Array): Promise<Row[]> {
  if (format === "parquet") return (await readParquet(file)).rows;
  const text = Buffer.from(file).toString();
  return format === "csv" ? csvRecords(text) : readLines(text);
}

/** The bytes of an export of all time. */
export async function download(
  url: string,
  client: TestClient,
  query: string,
  filters: unknown = {},
): Promise<Uint8Array> {
  const response = await fetch(`${url}?${always}&${query}`, {
    method: "POST",
    headers: { authorization: client.authorization, "content-type": "application/json" },
    body: JSON.stringify({ filters }),
  });
  if (response.status !== 200) throw new Error(`export answered ${response.status}: ${await response.text()}`);
  return new Uint8Array(await response.arrayBuffer());
}

export function csvRecords(text: string): Record<string, string>[] {
  const [head = [], ...rows] = readCsv(text);
  return rows.map((row) => Object.fromEntries(head.map((name, index) => [name, row[index] ?? "(no cell)"])));
}

/** Reads a Parquet file with the engine's own reader: in a separate process, because an engine binds one folder. */
export async function readParquet(bytes: Uint8Array): Promise<{ rows: Row[]; types: Record<string, string> }> {
  const folder = mkdtempSync(join(tmpdir(), "spanway-parquet-"));
  const path = join(folder, "file.parquet");
  await writeFile(path, bytes);
  const script = `import { query } from "chdb";
    const all = (sql) => JSON.parse(query(sql, "JSON")).data;
    const from = "file('${path}', 'Parquet')";
    process.stdout.write(JSON.stringify({ rows: all("SELECT * FROM " + from), columns: all("DESCRIBE " + from) }));`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], {
    cwd: import.meta.dirname,
    maxBuffer: 256 * 1024 * 1024,
  });
  await rm(folder, { recursive: true, force: true });
  const { rows, columns } = JSON.parse(stdout) as { rows: Row[]; columns: Array<{ name: string; type: string }> };
  return { rows, types: Object.fromEntries(columns.map(({ name, type }) => [name, type])) };
}
