import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, utimesSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, expect, test } from "vitest";

/** The launcher of `npm start` and `npm run admin`, on programs that print their name and their arguments. */

const folder = mkdtempSync(join(tmpdir(), "spanway-run-"));
const file = (path: string) => join(folder, path);
const run = async (...args: string[]) =>
  (await promisify(execFile)(process.execPath, [file("run.mjs"), ...args])).stdout.trim();
afterEach(() => rm(folder, { recursive: true }));

function write(path: string, name: string, atS: number): void {
  writeFileSync(file(path), `console.log("${name}", ...process.argv.slice(2))`);
  utimesSync(file(path), atS, atS);
}

test("runs the bundle until a source is newer, with the arguments of the program", async () => {
  for (const path of ["src/deep", "dist"]) mkdirSync(file(path), { recursive: true });
  copyFileSync(join(import.meta.dirname, "../run.mjs"), file("run.mjs"));
  write("src/main.ts", "sources", 1_000);
  write("src/deep/part.ts", "", 1_000);
  for (const path of ["src", "src/deep"]) utimesSync(file(path), 1_000, 1_000);
  expect(await run("main", "keys", "--json")).toBe("sources keys --json");
  write("dist/main.js", "bundle", 2_000);
  expect(await run("main", "keys", "--json")).toBe("bundle keys --json");
  utimesSync(file("src/deep/part.ts"), 3_000, 3_000);
  expect(await run("main")).toBe("sources");
});
