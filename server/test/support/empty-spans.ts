import { cpSync, existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSpanStore } from "../../src/storage/spans/clickhouse-span-store.ts";

/** An embedded span store with its tables and without spans: to make the tables takes a third of the start of a server. */
export async function makeEmptySpans(path: string): Promise<void> {
  const original = join(tmpdir(), "empty-spans");
  if (!existsSync(original)) await makeOriginal(original);
  cpSync(original, path, { recursive: true, verbatimSymlinks: true });
}

/** Processes may do so at the same time: the folder is there when it is whole. */
async function makeOriginal(original: string): Promise<void> {
  const made = mkdtempSync(`${original}-`);
  const store = openSpanStore({ kind: "chdb", path: made });
  await store.migrate();
  await store.close();
  try {
    renameSync(made, original);
  } catch {
    rmSync(made, { recursive: true });
  }
}
