import { cpSync, existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSpanStore } from "../../src/storage/spans/clickhouse-span-store.ts";

/** An embedded span store with its tables and without spans: creating the tables takes a third of a server's start. */
export async function makeEmptySpans(path: string): Promise<void> {
  const original = join(tmpdir(), "empty-spans");
  if (!existsSync(original)) await makeOriginal(original);
  cpSync(original, path, { recursive: true, verbatimSymlinks: true });
}

/** Several processes may do so at the same time: the folder appears when it is complete. */
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
